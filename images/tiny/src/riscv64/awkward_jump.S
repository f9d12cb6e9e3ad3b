/* awkward_jump.S: branches, jumps, links, and what depends on the pc. */
#include "awkward.h"

	.text
/* Every condition, with a pair for which it holds and one for which not. */
.macro TAKEN insn, a, b
	STEP
	li t0, \a
	li t1, \b
	\insn t0, t1, .Ltaken\@
	j 9f
.Ltaken\@:
.endm

.macro NOT_TAKEN insn, a, b
	STEP
	li t0, \a
	li t1, \b
	\insn t0, t1, 9f
.endm

AWKWARD branches
	TAKEN beq, 5, 5
	NOT_TAKEN beq, 5, 6
	TAKEN bne, 5, 6
	NOT_TAKEN bne, 5, 5
	TAKEN blt, -1, 1
	NOT_TAKEN blt, 1, 1
	TAKEN bge, 1, -1
	NOT_TAKEN bge, -1, 1
	TAKEN bltu, 1, -1
	NOT_TAKEN bltu, -1, 1
	TAKEN bgeu, -1, -1
	NOT_TAKEN bgeu, 1, -1
	STEP
	li a0, 3
	li a1, 0
1:	addi a1, a1, 2
	addi a0, a0, -1
	bne a0, zero, 1b	/* backwards */
	IS a1, 6
	STEP
	blt zero, zero, .		/* to itself, if it were taken */
	bgeu zero, a1, 9f
DONE branches

AWKWARD short_branches
	STEP
	li a0, 0
	c.beqz a0, 1f
	j 9f
1:	c.bnez a0, 2f
	li a0, 7
	c.beqz a0, 2f
	c.bnez a0, 3f
2:	j 9f
3:	STEP
	c.j 4f
	j 9f
5:	li a1, 1
	c.j 6f
4:	li a1, 0
	c.j 5b			/* backwards */
6:	IS a1, 1
DONE short_branches

/* Functions that say where they were called from. */
FUNC awk_return_pc
	mv a0, ra
	ret
END awk_return_pc

FUNC awk_return_pc_t0
	mv a0, t0
	jr t0
END awk_return_pc_t0

/* CALLS insn: the call reaches a function that returns where from. */
.macro CALLS insn:vararg
	\insn
.Lafter\@:
	ADDRESS t1, .Lafter\@
	EQUAL t1, a0
.endm

AWKWARD calls
	CALLS jal awk_return_pc
	CALLS jal t0, awk_return_pc_t0
	CALLS call awk_return_pc
	CALLS call t0, awk_return_pc_t0
	lla s2, awk_return_pc
	.option push
	.option norvc
	CALLS jalr ra, (s2)
	.option pop
	CALLS c.jalr s2
	addi s2, s2, -2047
	CALLS jalr ra, 2047(s2)
	addi s2, s2, 2046
	CALLS jalr ra, 2(s2)		/* bit 0 of the target does not count */
	lla t0, awk_return_pc_t0
	CALLS jalr t0, (t0)		/* the link is the base */
	lla ra, awk_return_pc
	CALLS jalr ra, (ra)
	lla ra, awk_return_pc
	CALLS c.jalr ra
	lla t0, awk_return_pc_t0 + 64
	CALLS jalr t0, -64(t0)
DONE calls

AWKWARD jumps
	STEP
	.option push
	.option norvc
	j 1f
	j 9f
1:	lla t0, 1f
	jr t0
	j 9f
1:	.option pop
	lla t0, 1f
	c.jr t0
	j 9f
1:	jal t1, 1f
	j 9f
1:	lla t0, 1f - 20
	jr 20(t0)
	j 9f
1:
DONE jumps

AWKWARD jump_table
	li s2, 0
	li s3, 0
1:	lla t0, .Ljump_cases
	slli t1, s3, 3
	add t0, t0, t1
	ld t0, (t0)
	jr t0
2:	addi s2, s2, 1
	j 5f
3:	addi s2, s2, 10
	j 5f
4:	addi s2, s2, 100
5:	addi s3, s3, 1
	li t0, 4
	bne s3, t0, 1b
	IS s2, 121
	.pushsection .rodata
	.balign 8
.Ljump_cases:
	.quad 2b, 3b, 4b, 3b
	.popsection
DONE jump_table

AWKWARD addresses
1:	auipc t0, 0
	ADDRESS t1, 1b
	EQUAL t0, t1
2:	auipc t0, 0x12345
	ADDRESS t1, 2b
	li t2, 0x12345000
	add t1, t1, t2
	EQUAL t0, t1
3:	auipc t0, 0x80000		/* a negative one */
	ADDRESS t1, 3b
	li t2, -0x80000000
	add t1, t1, t2
	EQUAL t0, t1
	jal t0, 4f
4:	ADDRESS t1, 4b
	EQUAL t0, t1
5:	auipc ra, 0
	ADDRESS t1, 5b
	EQUAL ra, t1
DONE addresses
