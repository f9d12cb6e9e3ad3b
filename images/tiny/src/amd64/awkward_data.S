/* awkward_data.S: addresses, strings, atomic and long instructions. */
#include "awkward.h"

	.text
/* ---- addresses relative to %rip ---- */

WORD rip_a, 0x1122334455667788
AWKWARD rip_load
	mov rip_a(%rip), %rax
	mov $0x1122334455667788, %rcx
	EQUAL %rcx, %rax
	movzbl rip_a+7(%rip), %eax
	EQUAL $0x11, %eax
	movswq rip_a(%rip), %rax
	EQUAL $0x7788, %rax
	movslq rip_a(%rip), %rax
	EQUAL $0x55667788, %rax
	imul $3, rip_a(%rip), %eax
	EQUAL $0x336698, %eax
	imul $0x101, rip_a+6(%rip), %cx
	EQUAL $0x3322, %cx
	stc
	cmovc rip_a+4(%rip), %eax
	EQUAL $0x11223344, %eax
	push rip_a(%rip)
	pop %rax
	EQUAL rip_a(%rip), %rax
	prefetcht0 rip_a(%rip)
	testl $0x8, rip_a(%rip)
	EXPECT nz
	testb $0x77, rip_a+1(%rip)
	EXPECT nz
DONE rip_load

WORD rip_b, 0
AWKWARD rip_store_imm
	movq $-2, rip_b(%rip)
	cmpq $-2, rip_b(%rip)
	EXPECT e
	movl $0x12345678, rip_b(%rip)
	movw $0x4321, rip_b+4(%rip)
	movb $0x65, rip_b+6(%rip)
	movb $0x07, rip_b+7(%rip)
	mov $0x0765432112345678, %rax
	EQUAL rip_b(%rip), %rax
	addl $0x100, rip_b(%rip)
	cmpl $0x12345778, rip_b(%rip)
	EXPECT e
	orb $0x80, rip_b+7(%rip)
	cmpb $0x87, rip_b+7(%rip)
	EXPECT e
	shll $4, rip_b(%rip)
	cmpl $0x23457780, rip_b(%rip)
	EXPECT e
	rolb $1, rip_b(%rip)
	cmpb $0x01, rip_b(%rip)
	EXPECT e
	push $-3
	pop rip_b(%rip)
	cmpq $-3, rip_b(%rip)
	EXPECT e
	stc
	setc rip_b(%rip)
	cmpb $1, rip_b(%rip)
	EXPECT e
	mov $5, %eax
	movnti %rax, rip_b(%rip)
	notq rip_b(%rip)
	negq rip_b(%rip)
	cmpq $6, rip_b(%rip)
	EXPECT e
DONE rip_store_imm

AWKWARD lea_rip
	lea awk_lea_rip(%rip), %rax
	mov $awk_lea_rip, %rcx
	EQUAL %rcx, %rax
	lea awk_lea_rip(%eip), %eax	/* 32-bit address */
	EQUAL %ecx, %eax
	lea 0(%rip), %rax
1:	mov $1b, %rcx
	EQUAL %rcx, %rax
	call 1f			/* to the next instruction */
1:	pop %rax
	mov $1b, %rcx
	EQUAL %rcx, %rax
DONE lea_rip

/* %gs with an address relative to %rip: it wraps round to the first pages */
AWKWARD gs_memory
	mov $cpu0, %rcx
	mov %gs:CPU_SELF, %rax
	EQUAL %rcx, %rax
	mov %gs:cpu_self_offset(%rip), %rax
	EQUAL %rcx, %rax
	add %gs:cpu_self_offset(%rip), %rax
	sub %rcx, %rax
	EQUAL %rcx, %rax
DONE gs_memory

WORD moffs_a, 0x8877665544332211
AWKWARD moffs
	movabs moffs_a, %al
	EQUAL $0x11, %al
	movabs moffs_a, %rax
	EQUAL moffs_a(%rip), %rax
	add $1, %rax
	movabs %rax, moffs_a
	EQUAL moffs_a(%rip), %rax
	sub $1, %rax
	movabs %rax, moffs_a
DONE moffs

/* ---- strings ---- */

	.pushsection .data
.Lstring_a: .ascii "the quick brown fox jumps over it"
.Lstring_b: .skip 64
	.popsection

AWKWARD strings
	lea .Lstring_a(%rip), %rsi
	lea .Lstring_b(%rip), %rdi
	mov $33, %ecx
	rep movsb
	EQUAL $0, %rcx
	lea .Lstring_a(%rip), %rsi
	lea .Lstring_b(%rip), %rdi
	mov $33, %ecx
	repe cmpsb
	EXPECT e
	movb $'Q', .Lstring_b+4(%rip)
	lea .Lstring_a(%rip), %rsi
	lea .Lstring_b(%rip), %rdi
	mov $33, %ecx
	repe cmpsb
	EXPECT ne
	EQUAL $28, %ecx
	lea .Lstring_a(%rip), %rdi
	mov $'x', %al
	mov $33, %ecx
	repne scasb
	EXPECT e
	EQUAL $14, %ecx
	lea .Lstring_b(%rip), %rdi
	mov $-1, %rax
	mov $8, %ecx
	rep stosq
	cmpq $-1, .Lstring_b+56(%rip)
	EXPECT e
	mov $3, %eax
	mov $0, %ecx		/* not once */
	rep stosb
	lea .Lstring_b+64(%rip), %rax
	EQUAL %rax, %rdi
	lea .Lstring_a(%rip), %rsi
	lodsb
	EQUAL $'t', %al
	lodsl
	EQUAL $0x71206568, %eax
	std
	lea .Lstring_a+32(%rip), %rsi
	lodsb
	cld
	EQUAL $'t', %al
	lea .Lstring_a+31(%rip), %rcx
	EQUAL %rcx, %rsi
DONE strings

AWKWARD xlat
	lea .Lstring_a(%rip), %rbx
	mov $4, %eax
	xlatb
	EQUAL $'q', %al
DONE xlat

/* ---- memory in one step ---- */

WORD atomic_a, 7
AWKWARD atomics
	movq $7, atomic_a(%rip)
	mov $5, %eax
	lock xadd %rax, atomic_a(%rip)
	EQUAL $7, %rax
	lock incq atomic_a(%rip)
	lock subq $1, atomic_a(%rip)
	cmpq $12, atomic_a(%rip)
	EXPECT e
	mov $30, %eax
	xchg %rax, atomic_a(%rip)
	EQUAL $12, %rax
	mov $30, %eax
	mov $31, %ecx
	lock cmpxchg %rcx, atomic_a(%rip)
	EXPECT e
	lock cmpxchg %rcx, atomic_a(%rip)
	EXPECT ne
	EQUAL $31, %rax
	mov $1, %edx
	xadd %edx, %eax
	EQUAL $32, %eax
	EQUAL $31, %edx
DONE atomics

	.pushsection .data
	.balign 16
.Lpair:	.quad 1, 2
	.popsection

AWKWARD cmpxchg_wide
	movl $1, .Lpair(%rip)
	movl $0, .Lpair+4(%rip)
	mov $1, %eax
	xor %edx, %edx
	mov $3, %ebx
	mov $4, %ecx
	lock cmpxchg8b .Lpair(%rip)
	EXPECT e
	cmpl $4, .Lpair+4(%rip)
	EXPECT e
	cmpxchg8b .Lpair(%rip)
	EXPECT ne
	EQUAL $3, %eax
	movq $1, .Lpair(%rip)
	movq $2, .Lpair+8(%rip)
	mov $1, %eax
	mov $2, %edx
	mov $5, %ebx
	mov $6, %ecx
	lock cmpxchg16b .Lpair(%rip)
	EXPECT e
	cmpq $6, .Lpair+8(%rip)
	EXPECT e
	lock cmpxchg16b .Lpair(%rip)
	EXPECT ne
	EQUAL $5, %rax
	EQUAL $6, %rdx
DONE cmpxchg_wide

	.pushsection .data
	.balign 8
.Lbits:	.quad 0, 0, 0
	.popsection

/* A bit number in a register may lie outside the addressed word. */
AWKWARD bit_memory
	movq $0, .Lbits+8(%rip)
	mov $67, %eax
	bts %rax, .Lbits(%rip)
	EXPECT nc
	cmpq $8, .Lbits+8(%rip)
	EXPECT e
	bt %rax, .Lbits(%rip)
	EXPECT c
	mov $-61, %rax
	lock btr %rax, .Lbits+16(%rip)
	EXPECT c
	cmpq $0, .Lbits+8(%rip)
	EXPECT e
	lock btcl $5, .Lbits+8(%rip)
	EXPECT nc
	btw $5, .Lbits+8(%rip)
	EXPECT c
DONE bit_memory

/* ---- long ones ---- */

WORD long_a, 0
AWKWARD long_15
	movq $0, long_a(%rip)
	.byte 0x3e, 0x3e, 0x3e
	lock addq $0x123456, long_a(%rip)
	cmpq $0x123456, long_a(%rip)
	EXPECT e
	.byte 0x3e, 0x3e, 0x3e, 0x3e, 0x3e
	movabs $0x1122334455667788, %rax
	mov $0x1122334455667788, %rcx
	EQUAL %rcx, %rax
	.byte 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0
	nopw 0x12345678(%rax,%rax,1)
DONE long_15

AWKWARD arithmetic
	mov $0x1234, %eax
	bswap %eax
	EQUAL $0x34120000, %eax
	bsf %eax, %ecx
	EQUAL $17, %ecx
	bsr %eax, %ecx
	EQUAL $29, %ecx
	mov $-7, %rax
	cqto
	mov $2, %ecx
	idiv %rcx
	EQUAL $-3, %rax
	EQUAL $-1, %rdx
	mov $-1, %rax
	mul %rax
	EQUAL $1, %rax
	EQUAL $-2, %rdx
	stc
	adc $0, %rdx
	EQUAL $-1, %rdx
	shld $8, %rdx, %rax
	EQUAL $0x1ff, %rax
DONE arithmetic
