/* awkward_jump.S: branches, calls, returns, and what depends on the pc. */
#include "awkward.h"

	.text
/* Every condition, with flags for which it holds or not. */
.macro CONDITION cc
	msr nzcv, x2
	cset w3, \cc
	mov w4, #1
	msr nzcv, x2
	b.\cc .Ltaken\@
	mov w4, #0
.Ltaken\@:
	cmp w3, w4
	b.ne 9f
.endm

AWKWARD conditions
	mov x1, #16
1:	STEP
	sub x1, x1, #1
	lsl x2, x1, #28
	.irp cc, eq, ne, cs, cc, mi, pl, vs, vc, hi, ls, ge, lt, gt, le
	CONDITION \cc
	.endr
	cbnz x1, 1b
	STEP
	b.al 2f
	b 9f
2:
DONE conditions

AWKWARD compare_branches
	STEP
	mov x0, #0x100000000
	cbz x0, 9f
	cbnz w0, 9f
	cbz w0, 1f
	b 9f
1:	cbnz x0, 1f
	b 9f
1:	cbz xzr, 1f
	b 9f
1:	mov x0, #5
	mov x1, #0
2:	add x1, x1, #3
	sub x0, x0, #1
	cbnz x0, 2b			/* backwards */
	IS x1, 15
DONE compare_branches

AWKWARD bit_branches
	STEP
	mov x0, #1 << 63
	tbnz x0, #63, 1f
	b 9f
1:	tbz x0, #63, 9f
	tbz x0, #62, 1f
	b 9f
1:	tbnz w0, #31, 9f
	tbz w0, #0, 1f
	b 9f
1:	mov x0, #0
	mov x1, #0
2:	add x1, x1, #1
	tbz w1, #4, 2b
	IS x1, 16
DONE bit_branches

/* Functions that say where they were called from. */
FUNC awk_return_pc
	mov x0, x30
	ret
END awk_return_pc

FUNC awk_return_pc_x9
	mov x0, x30
	mov x9, x30
	mov x30, xzr
	ret x9
END awk_return_pc_x9

/* CALLS insn: the call reaches a function that returns where from. */
.macro CALLS insn:vararg
	\insn
.Lafter\@:
	ldr x1, =.Lafter\@
	EQUAL x0, x1
.endm

AWKWARD calls
	CALLS bl awk_return_pc
	adr x2, awk_return_pc
	CALLS blr x2
	ldr x30, =awk_return_pc
	CALLS blr x30			/* the link is the target */
	CALLS bl awk_return_pc_x9
	bl 1f				/* to the next instruction */
1:	ldr x1, =1b
	EQUAL x30, x1
DONE calls

AWKWARD jumps
	STEP
	b 1f
	b 9f
1:	adr x0, 1f
	br x0
	b 9f
2:	adr x30, 3f
	ret
	b 9f
1:	adr x16, 2b
	br x16				/* backwards */
	b 9f
3:	adr x5, 1f
	ret x5
	b 9f
1:
DONE jumps

AWKWARD jump_table
	mov x20, #0
	mov x21, #0
1:	adrp x0, .Ljump_cases
	add x0, x0, :lo12:.Ljump_cases
	ldr w1, [x0, x21, lsl #2]
	adr x2, 2f
	add x0, x2, w1, sxtw
	br x0
2:	add x20, x20, #1
	b 5f
3:	add x20, x20, #10
	b 5f
4:	add x20, x20, #100
5:	add x21, x21, #1
	cmp x21, #4
	b.ne 1b
	IS x20, 121
	.pushsection .rodata
	.balign 4
.Ljump_cases:
	.word 2b - 2b, 3b - 2b, 4b - 2b, 3b - 2b
	.popsection
DONE jump_table

/* ---- addresses ---- */

AWKWARD addresses
1:	adr x0, .
	ldr x1, =1b
	EQUAL x0, x1
2:	adr x0, . + 0xffffc
	ldr x1, =2b + 0xffffc
	EQUAL x0, x1
3:	adr x0, . - 0x100000
	ldr x1, =3b - 0x100000
	EQUAL x0, x1
	adr x0, . + 1
	tst x0, #1
	EXPECT ne
	adrp x0, awk_addresses
	ldr x1, =awk_addresses
	bic x1, x1, #0xfff
	EQUAL x0, x1
	adrp x0, awk_addresses + 0x7ffff000
	ldr x2, =0x7ffff000
	add x1, x1, x2
	EQUAL x0, x1
	adrp x0, awk_addresses - 0x80000000
	ldr x2, =0xfffff000
	sub x1, x1, x2
	EQUAL x0, x1
	adr xzr, .
	adr x30, 4f
4:	ldr x1, =4b
	EQUAL x30, x1
DONE addresses

/* ---- loads of what lies near the pc ---- */

	.balign 16
.Lliterals:
	.quad 0x8877665544332211, 0x0123456789abcdef, awk_literals

AWKWARD literals
	ldr x0, .Lliterals
	adr x2, .Lliterals
	ldr x1, [x2]
	EQUAL x0, x1
	ldr w0, .Lliterals + 4
	IS x0, 0x88776655
	ldrsw x0, .Lliterals + 4
	IS x0, -0x778899ab
	ldrsw x0, .Lliterals
	IS x0, 0x44332211
	prfm pldl1keep, .Lliterals
	ldr x30, .Lliterals + 8
	IS x30, 0x0123456789abcdef
	ldr xzr, .Lliterals
	ldr x0, .Lliterals + 16
	adr x1, awk_literals
	EQUAL x0, x1
DONE literals

/* The same into vector registers, with leave to use them and given back. */
	.arch armv8-a+fp+simd
AWKWARD vector_literals
	mrs x20, cpacr_el1
	orr x0, x20, #3 << 20
	msr cpacr_el1, x0
	isb
	ldr s0, .Lliterals + 4
	fmov w0, s0
	ldr d1, .Lliterals
	fmov x1, d1
	ldr q2, .Lliterals
	fmov x2, v2.d[1]
	fmov x3, d2
	msr cpacr_el1, x20
	isb
	IS x0, 0x88776655
	IS x1, 0x8877665544332211
	IS x2, 0x0123456789abcdef
	EQUAL x3, x1
DONE vector_literals
