/*
 * awkward.h: instructions that are awkward for a tracer which runs them
 * somewhere else: they depend on the pc, they link or jump, they touch the
 * interrupt mask, they fault, they change their base, or they belong together.
 * Each function of the files awkward_*.S runs some of them and checks what they
 * did; it returns 0 or the number of the failed step.
 *
 * w19 is the step, x20 and x21 are free to use; x0 to x17 are nobody's.
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
	stp x29, x30, [sp, #-48]!
	mov x29, sp
	stp x19, x20, [sp, #16]
	str x21, [sp, #32]
.endm

.macro DONE name
	mov w0, #0
	b 8f
9:	mov w0, w19
8:	mov sp, x29
	ldr x21, [sp, #32]
	ldp x19, x20, [sp, #16]
	ldp x29, x30, [sp], #48
	ret
	END awk_\name
	.ltorg			/* a function is nothing but instructions */
.endm

/* STEP: what follows is a step of its own. */
.macro STEP
	.set .Lstep, .Lstep + 1
	mov w19, #.Lstep
.endm

/* EXPECT cc: the condition holds now. EQUAL a, b: they are equal. */
.macro EXPECT cc
	STEP
	b.\cc .Lok\@
	b 9f
.Lok\@:
.endm

.macro EQUAL a, b
	cmp \a, \b
	EXPECT eq
.endm

/* IS a, number: x17 is used. */
.macro IS a, number
	ldr x17, =\number
	EQUAL \a, x17
.endm

/* Room for 8 bytes of a function's own. */
.macro WORD name, value
	.pushsection .data
	.balign 8
	.type \name, %object
	.size \name, 8
\name:	.quad \value
	.popsection
.endm

/* FAULTS insn: it does, and the exception table leads behind it. */
.macro FAULTS insn:vararg
	STEP
.Lfaults\@:
	\insn
	b 9f
.Lfixed\@:
	FIXUP .Lfaults\@, .Lfixed\@
.endm
