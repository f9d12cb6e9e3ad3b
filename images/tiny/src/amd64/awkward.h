/*
 * awkward.h: instructions that are awkward for a tracer which runs them
 * somewhere else: they depend on %rip, on the stack they push to, on flags or
 * interrupts, they fault, or they look odd. Each function of the files
 * awkward_*.S runs some of them and checks what they did; it returns 0 or the
 * number of the failed step.
 */
#pragma once

#include "asm.h"

/* AWKWARD name ... DONE name: a function in the table of check.c */
.macro AWKWARD name
	.pushsection .rodata
.Lname_\name:
	.asciz "\name"
	.popsection
	.pushsection .check.awkward, "a"
	.balign 8
	.quad .Lname_\name, awk_\name
	.popsection
	FUNC awk_\name
	PROLOGUE
.endm

.macro PROLOGUE
	.set .Lstep, 0
	push %rbp
	mov %rsp, %rbp
	push %rbx
	push %r12		/* the step */
.endm

.macro DONE name
	xor %eax, %eax
	jmp 8f
9:	mov %r12d, %eax
8:	mov -8(%rbp), %rbx
	mov -16(%rbp), %r12
	leave
	ret
	END awk_\name
.endm

/* EXPECT cc: the condition holds now. EQUAL a, b: they are equal. */
.macro EXPECT cc
	.set .Lstep, .Lstep + 1
	mov $.Lstep, %r12d
	j\cc .Lok\@
	jmp 9f
.Lok\@:
.endm

.macro EQUAL a, b
	cmp \a, \b
	EXPECT e
.endm

/* CALLS insn: the call reaches awk_return_pc, which says where from. */
.macro CALLS insn:vararg
	mov %rsp, %rbx
	\insn
.Lafter\@:
	lea .Lafter\@(%rip), %rdx
	EQUAL %rdx, %rax
	EQUAL %rbx, %rsp
.endm

/* Room for 8 bytes at %rip, so that each function has its own. */
.macro WORD name, value
	.pushsection .data
	.balign 8
	.type \name, @object
	.size \name, 8
\name:	.quad \value
	.popsection
.endm
