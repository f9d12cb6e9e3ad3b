/*
 * awkward_fault.S: instructions that fault, as expected; text that changes; an
 * instruction on two pages.
 */
#include "awkward.h"

#define UNMAPPED 0xffffb00000000000
#define ALIAS (DIRECT_BASE - KERNEL_BASE) /* from text to its writable alias */

	.text
	.balign 4096
.Lbegin:

/* FAULTS insn: it does, and the exception table leads behind it. */
.macro FAULTS insn:vararg
.Lfaults\@:
	\insn
	jmp 9f
.Lfixed\@:
	FIXUP .Lfaults\@, .Lfixed\@
.endm

WORD zero, 0
AWKWARD divide_fault
	mov $1, %r12d
	mov $5, %eax
	xor %edx, %edx
	xor %ecx, %ecx
	FAULTS div %ecx
	EQUAL $5, %eax
	mov $3, %r12d
	mov $0x80000000, %eax
	cltd
	mov $-1, %ecx
	FAULTS idiv %ecx
	mov $4, %r12d
	FAULTS divl zero(%rip)
DONE divide_fault

AWKWARD page_fault
	mov $1, %r12d
	mov $UNMAPPED, %rdi
	FAULTS mov (%rdi), %rax
	FAULTS mov %rax, (%rdi)
	FAULTS lock incl (%rdi)
	FAULTS movb $1, tiny_banner(%rip)	/* read-only */
	FAULTS incb awk_page_fault(%rip)
	lea awk_page_fault(%rip), %rsi
	mov $9, %ecx
	FAULTS rep movsb
	EQUAL $9, %ecx
DONE page_fault

/* A call that faults has pushed nothing. */
AWKWARD call_fault
	mov $1, %r12d
	mov %rsp, %rbx
	mov $UNMAPPED, %rdi
	FAULTS call *(%rdi)
	EQUAL %rbx, %rsp
	sub %rsp, %rdi
	FAULTS call *8(%rsp,%rdi)
	add %rsp, %rdi
	EQUAL %rbx, %rsp
	mov $3, %r12d
	FAULTS jmp *(%rdi)
	FAULTS push (%rdi)
	EQUAL %rbx, %rsp
	push $1
	mov %rsp, %rbx
	FAULTS pop (%rdi)
	EQUAL %rbx, %rsp
	pop %rax
DONE call_fault

/* Not in the GDT: a general protection fault. */
AWKWARD bad_selector
	mov $1, %r12d
	mov $0x1050, %eax
	FAULTS mov %eax, %es
DONE bad_selector

/* The handler steps over ud2 if the bug table has it. */
AWKWARD invalid_opcode
	mov bug_count(%rip), %ebx
1:	ud2
	.pushsection .bug_table, "a"
	.quad 1b, .Lbug_expected
	.popsection
	.pushsection .rodata
.Lbug_expected:
	.asciz "expected by invalid_opcode"
	.popsection
	inc %ebx
	EQUAL bug_count(%rip), %ebx
	FAULTS ud2
DONE invalid_opcode

/* For these two the handler leaves the pc it was told in %rax. */
AWKWARD breakpoint
	mov breakpoint_count(%rip), %ebx
	int3
1:	lea 1b(%rip), %rcx
	EQUAL %rcx, %rax
	.byte 0xcd, 3		/* int $3, the long form */
1:	lea 1b(%rip), %rcx
	EQUAL %rcx, %rax
	add $2, %ebx
	EQUAL breakpoint_count(%rip), %ebx
DONE breakpoint

AWKWARD software_interrupt
	mov software_count(%rip), %ebx
	int $VECTOR_SOFTWARE
1:	lea 1b(%rip), %rcx
	EQUAL %rcx, %rax
	inc %ebx
	EQUAL software_count(%rip), %ebx
DONE software_interrupt

/* ---- text that is rewritten, through its alias in the direct map ---- */

FUNC awk_rewritten
	mov $1, %eax
	ret
END awk_rewritten

FUNC awk_switched
	.byte 0x0f, 0x1f, 0x44, 0, 0	/* or: jmp 1f */
	mov $1, %eax
	ret
1:	mov $2, %eax
	ret
END awk_switched

AWKWARD rewrite
	mov $ALIAS, %rdi
	call awk_rewritten
	EQUAL $1, %eax
	incl awk_rewritten+1(%rdi)
	call awk_rewritten
	decl awk_rewritten+1(%rdi)
	EQUAL $2, %eax
	call awk_switched
	EQUAL $1, %eax
	cli
	mov awk_switched(%rdi), %rbx
	movl $6, awk_switched+1(%rdi)
	movb $0xe9, awk_switched(%rdi)
	sti
	call awk_switched
	mov %rbx, awk_switched(%rdi)
	EQUAL $2, %eax
	call awk_switched
	EQUAL $1, %eax
DONE rewrite

/* ---- an instruction on two pages ---- */

	.pushsection .rodata
.Lstraddle_name:
	.asciz "straddle"
	.popsection
	.pushsection .check.awkward, "a"
	.quad .Lstraddle_name, awk_straddle
	.popsection
	.globl awk_straddle
	.type awk_straddle, @function
	/* 7 bytes of prologue, then an instruction 2 bytes before the page's end */
	.org .Lbegin + 4096 - 9, 0xcc
awk_straddle:
	PROLOGUE
	mov $0x12345678, %eax
	EQUAL $0x12345678, %eax
DONE straddle
