/*
 * awkward.h: instructions that are awkward for a tracer which runs them
 * somewhere else: they depend on the pc, they link or jump, they have a short
 * form, they touch the interrupt mask, they fault, or they belong together.
 * Each function of the files awkward_*.S runs some of them and checks what they
 * did; it returns 0 or the number of the failed step.
 *
 * s1 is the step, s2 and s3 are free to use; t and a registers are nobody's.
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
	addi sp, sp, -48
	sd ra, 40(sp)
	sd fp, 32(sp)
	sd s1, 24(sp)
	sd s2, 16(sp)
	sd s3, 8(sp)
	addi fp, sp, 48
.endm

.macro DONE name
	li a0, 0
	j 8f
9:	mv a0, s1
8:	addi sp, fp, -48
	ld ra, 40(sp)
	ld fp, 32(sp)
	ld s1, 24(sp)
	ld s2, 16(sp)
	ld s3, 8(sp)
	addi sp, sp, 48
	ret
	END awk_\name
.endm

/* STEP: what follows is a step of its own. */
.macro STEP
	.set .Lstep, .Lstep + 1
	li s1, .Lstep
.endm

.macro EQUAL a, b
	STEP
	bne \a, \b, 9f
.endm

/* IS a, number: t6 is used. */
.macro IS a, number
	STEP
	li t6, \number
	bne \a, t6, 9f
.endm

/* Room for 8 bytes of a function's own. */
.macro WORD name, value
	.pushsection .data
	.balign 8
	.type \name, @object
	.size \name, 8
\name:	.quad \value
	.popsection
.endm

/* ADDRESS reg, label: by the linker, not by the pc */
.macro ADDRESS reg, label
	.pushsection .rodata
	.balign 8
.Laddress\@:
	.quad \label
	.popsection
	lla \reg, .Laddress\@
	ld \reg, (\reg)
.endm

/* FAULTS insn: it does, and the exception table leads behind it. */
.macro FAULTS insn:vararg
	STEP
.Lfaults\@:
	\insn
	j 9f
.Lfixed\@:
	FIXUP .Lfaults\@, .Lfixed\@
.endm
