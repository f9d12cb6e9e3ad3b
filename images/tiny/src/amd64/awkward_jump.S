/* awkward_jump.S: jumps, calls, returns, and the stack they use. */
#include "awkward.h"

	.text
/* ---- jumps ---- */

AWKWARD jrcxz
	mov $1, %ecx
	jrcxz 9f
	xor %ecx, %ecx
	mov $1, %r12d
	jrcxz 1f
	jmp 9f
1:	mov $0x100000000, %rcx
	mov $2, %r12d
	jrcxz 9f
	jecxz 1f
	jmp 9f
1:
DONE jrcxz

AWKWARD loops
	xor %eax, %eax
	mov $5, %ecx
1:	inc %eax
	loop 1b
	EQUAL $5, %eax
	mov $3, %ecx
1:	loop 1b			/* to itself */
	EQUAL $0, %rcx
	mov $10, %ecx
1:	dec %eax
	cmp $2, %eax
	loopne 1b
	EXPECT e
	EQUAL $7, %ecx
	mov $10, %ecx
	xor %edx, %edx
1:	inc %edx
	test $4, %edx
	loope 1b
	EXPECT nz
	EQUAL $4, %edx
	mov $0x100000002, %rcx	/* 32-bit counter */
	xor %eax, %eax
1:	inc %eax
	addr32 loop 1b
	EQUAL $2, %eax
DONE loops

/* Every condition, near and far, with flags for which it holds or not. */
.macro CONDITION cc
	push %r10
	popfq
	set\cc %dl
	mov $1, %cl
	{disp8} j\cc .Lnear\@
	mov $0, %cl
.Lnear\@:
	cmp %dl, %cl
	jne 9f
	push %r10
	popfq
	mov $1, %cl
	{disp32} j\cc .Lfar\@
	mov $0, %cl
.Lfar\@:
	cmp %dl, %cl
	jne 9f
.endm

AWKWARD conditions
	/* one of CF, PF, ZF, SF, OF, or none; and IF */
	lea .Lcondition_flags(%rip), %r8
	mov $1, %r12d
1:	movzwl (%r8), %r10d
	.irp cc, o, no, b, ae, e, ne, be, a, s, ns, p, np, l, ge, le, g
	CONDITION \cc
	.endr
	inc %r12d
	add $2, %r8
	cmpw $0, (%r8)
	jne 1b
DONE conditions

	.pushsection .rodata
.Lcondition_flags:
	.word 0x202, 0x203, 0x206, 0x242, 0x282, 0xa02, 0xa82, 0xac7, 0
	.popsection

AWKWARD jumps
	{disp8} jmp 1f
	jmp 9f
1:	{disp32} jmp 1f
	jmp 9f
1:	bnd jmp 1f
	jmp 9f
1:	lea 1f(%rip), %rax
	jmp *%rax
	jmp 9f
1:	lea 1f(%rip), %r11
	notrack jmp *%r11
	jmp 9f
1:	jmp *.Ljump_target(%rip)
	jmp 9f
.Ljump_landing:
	lea 1f(%rip), %rax
	push %rax
	push $0
	jmp *8(%rsp)
1:	add $16, %rsp
	lea 1f(%rip), %rax
	push %rax
	ret
	jmp 9f
1:	lea 1f(%rip), %rax
	push %rax
	push %rax
	ret $8
	jmp 9f
1:
DONE jumps

	.pushsection .rodata
	.balign 8
.Ljump_target:
	.quad .Ljump_landing
	.popsection

AWKWARD jump_table
	xor %ebx, %ebx
	xor %ecx, %ecx
1:	jmp *.Ljump_cases(,%rcx,8)
2:	add $1, %ebx
	jmp 5f
3:	add $10, %ebx
	jmp 5f
4:	add $100, %ebx
5:	inc %ecx
	cmp $4, %ecx
	jne 1b
	EQUAL $121, %ebx
	.pushsection .rodata
	.balign 8
.Ljump_cases:
	.quad 2b, 3b, 4b, 3b
	.popsection
DONE jump_table

FUNC awk_return_pc
	mov (%rsp), %rax
	ret
END awk_return_pc

FUNC awk_return_pc_rep
	mov (%rsp), %rax
	rep ret
END awk_return_pc_rep

FUNC awk_return_pc_16
	mov (%rsp), %rax
	ret $16
END awk_return_pc_16

FUNC awk_return_pc_endbr
	endbr64
	mov (%rsp), %rax
	ret
END awk_return_pc_endbr

/* ---- calls: where do they say they came from? ---- */

WORD call_target, awk_return_pc
AWKWARD calls
	CALLS call awk_return_pc
	CALLS call *call_target(%rip)
	CALLS notrack call *call_target(%rip)
	lea awk_return_pc_rep(%rip), %rax
	CALLS call *%rax
	lea awk_return_pc_endbr(%rip), %r11
	CALLS call *%r11
	lea call_target-0x1000(%rip), %rdi
	mov $0x200, %ecx
	CALLS call *(%rdi,%rcx,8)
	CALLS call *call_target
	CALLS bnd call awk_return_pc
DONE calls

/* The address is formed before the push moves %rsp. */
AWKWARD calls_by_rsp
	lea awk_return_pc(%rip), %rax
	push %rax
	push %rax
	CALLS call *(%rsp)
	CALLS call *8(%rsp)
	sub $0x78, %rsp
	CALLS call *0x78(%rsp)	/* a displacement of a byte, just */
	sub $0x78, %rsp
	CALLS call *0xf0(%rsp)
	mov $0x1e, %ecx
	CALLS call *(%rsp,%rcx,8)
	CALLS call *8(%rsp,%rcx,8)
	add $0xf0, %rsp
	lea 0x80(%rsp), %rdi
	CALLS call *-0x80(%rdi)
	add $16, %rsp
DONE calls_by_rsp

AWKWARD ret_imm
	mov %rsp, %rbx
	push $1
	push $2
	call awk_return_pc_16
1:	lea 1b(%rip), %rcx
	EQUAL %rcx, %rax
	EQUAL %rbx, %rsp
DONE ret_imm

AWKWARD far_return
	mov %rsp, %rbx
	push $KERNEL_CS
	lea 1f(%rip), %rax
	push %rax
	lretq
	jmp 9f
1:	EQUAL %rbx, %rsp
DONE far_return

AWKWARD interrupt_return
	mov %rsp, %rbx
	push $KERNEL_DS
	push %rbx
	pushfq
	push $KERNEL_CS
	lea 1f(%rip), %rax
	push %rax
	iretq
	jmp 9f
1:	EQUAL %rbx, %rsp
DONE interrupt_return

/* ---- the stack ---- */

AWKWARD push_pop_rsp
	mov %rsp, %rbx
	push %rsp
	pop %rax
	EQUAL %rbx, %rax
	push %rbx
	pop %rsp
	EQUAL %rbx, %rsp
	push $-5
	push $0x12345678
	push (%rsp)
	cmpq $0x12345678, (%rsp)
	EXPECT e
	push 16(%rsp)
	pop 16(%rsp)		/* the address is formed after the pop */
	mov 16(%rsp), %rax
	EQUAL $-5, %rax
	mov %rbx, %rsp
	pushw $7
	popw %ax
	EQUAL $7, %ax
	EQUAL %rbx, %rsp
	cli
	mov %rsp, %rax
	xchg %rax, %rsp
	sti
	EQUAL %rbx, %rsp
DONE push_pop_rsp

AWKWARD enter_leave
	mov %rsp, %rbx
	mov %rbp, %rdx
	enter $24, $0
	mov %rsp, %rax
	add $24, %rax
	EQUAL %rbp, %rax
	mov (%rbp), %rax
	EQUAL %rdx, %rax
	leave
	EQUAL %rbx, %rsp
	EQUAL %rdx, %rbp
	enter $16, $1
	mov -8(%rbp), %rax
	EQUAL %rbp, %rax
	leave
	EQUAL %rbx, %rsp
	EQUAL %rdx, %rbp
DONE enter_leave
