/*
 * awkward_fault.S: instructions that fault, as expected; text that changes; an
 * instruction on two pages.
 */
#include "awkward.h"

#define UNMAPPED 0xfffffff000000000
#define ALIAS (DIRECT_BASE - KERNEL_BASE) /* from text to its writable alias */

	.text
	.balign 4096
.Lbegin:

AWKWARD page_fault
	li a0, UNMAPPED
	li a1, 5
	FAULTS ld a1, (a0)
	IS a1, 5
	FAULTS c.ld a1, 8(a0)
	FAULTS lbu a1, (a0)
	FAULTS sd a1, (a0)
	FAULTS c.sw a1, (a0)
	FAULTS sb a1, (a0)
	FAULTS lr.d a1, (a0)
	FAULTS amoadd.w a1, a1, (a0)
	IS a1, 5
	FAULTS ld a0, 16(a0)		/* the base is still there */
	li a2, UNMAPPED
	EQUAL a0, a2
	lla a0, tiny_banner
	FAULTS sb a1, (a0)		/* read-only */
	lla a0, awk_page_fault
	FAULTS sh a1, 2(a0)
	lla a0, image_end
	FAULTS ld a1, -4(a0)		/* half of it is good */
DONE page_fault

/* The handler steps over unimp, of 4 or of 2 bytes, if the bug table has it. */
.macro BUG insn
	lla a0, bug_count
	lw s2, (a0)
1:	\insn
	.pushsection .bug_table, "a"
	.balign 8
	.quad 1b, .Lbug_expected
	.popsection
	lla a0, bug_count
	lw a1, (a0)
	addi s2, s2, 1
	EQUAL a1, s2
.endm

AWKWARD invalid_opcode
	BUG unimp
	BUG c.unimp
	.pushsection .rodata
.Lbug_expected:
	.asciz "expected by invalid_opcode"
	.popsection
	FAULTS unimp
	FAULTS c.unimp
	FAULTS .insn i 0x0b, 7, t6, t6, -1	/* nobody's */
	FAULTS csrr a0, mstatus		/* of a higher mode */
	FAULTS csrw cycle, a0		/* read-only */
	FAULTS mret
DONE invalid_opcode

/* The handler leaves the pc it was told in a0. */
.macro BREAKS insn
1:	\insn
	ADDRESS a1, 1b
	EQUAL a0, a1
.endm

AWKWARD breakpoint
	lla a0, breakpoint_count
	lw s2, (a0)
	.option push
	.option norvc
	BREAKS ebreak
	.option pop
	BREAKS c.ebreak
	lla a0, breakpoint_count
	lw a1, (a0)
	addi s2, s2, 2
	EQUAL a1, s2
DONE breakpoint

/* ---- text that is rewritten, through its alias in the direct map ---- */

FUNC awk_rewritten
	c.li a0, 1
	c.jr ra
END awk_rewritten

	.balign 4
	.option push
	.option norvc
FUNC awk_switched
	nop			/* or: j 1f */
	li a0, 1
	ret
1:	li a0, 2
	ret
END awk_switched
	.option pop

.macro REWRITE insn, value, function
	li a0, ALIAS
	lla a1, \function
	add a0, a0, a1
	li a1, \value
	\insn a1, (a0)
	fence.i
	call \function
.endm

AWKWARD rewrite
	call awk_rewritten
	IS a0, 1
	REWRITE sh, 0x4509, awk_rewritten	/* c.li a0, 2 */
	mv s2, a0
	REWRITE sh, 0x4505, awk_rewritten
	IS s2, 2
	IS a0, 1
	REWRITE sw, 0x00c0006f, awk_switched	/* j 1f */
	mv s2, a0
	REWRITE sw, 0x00000013, awk_switched
	IS s2, 2
	IS a0, 1
DONE rewrite

/* ---- an instruction on two pages ---- */

	.pushsection .rodata
.Lstraddle_name:
	.asciz "straddle"
	.popsection
	.pushsection .check.awkward, "a"
	.balign 8
	.quad .Lstraddle_name, awk_straddle
	.popsection
	.globl awk_straddle
	.type awk_straddle, @function
	/* 14 bytes of prologue, then one of 4 bytes 2 bytes before the page's end */
	.org .Lbegin + 4096 - 16
awk_straddle:
	PROLOGUE
	lui a0, 0x12345
	IS a0, 0x12345000
DONE straddle
