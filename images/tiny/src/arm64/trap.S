/*
 * trap.S: the way into the kernel for exceptions, interrupts and system calls.
 * The CPU has its kernel stack pointer where the last return to the user left it:
 * at the top.
 */
#include "asm.h"

/* ALL_PAIRS insn: x2 to x29 at their places in struct trapframe */
.macro ALL_PAIRS insn
	\insn x2, x3, [sp, #16]
	\insn x4, x5, [sp, #32]
	\insn x6, x7, [sp, #48]
	\insn x8, x9, [sp, #64]
	\insn x10, x11, [sp, #80]
	\insn x12, x13, [sp, #96]
	\insn x14, x15, [sp, #112]
	\insn x16, x17, [sp, #128]
	\insn x18, x19, [sp, #144]
	\insn x20, x21, [sp, #160]
	\insn x22, x23, [sp, #176]
	\insn x24, x25, [sp, #192]
	\insn x26, x27, [sp, #208]
	\insn x28, x29, [sp, #224]
.endm

	.text
/* 16 stubs: 0 kernel on the user's stack, 4 kernel, 8 user, 12 user of 32 bits; + 1 interrupt */
	.balign 2048
FUNC trap_vectors
	.set .Lvector, 0
	.rept 16
	.balign 128
	sub sp, sp, #TF_SIZE
	stp x0, x1, [sp]
	mov x0, #.Lvector
	b trap_entry
	.set .Lvector, .Lvector + 1
	.endr
END trap_vectors

FUNC trap_entry
	str x0, [sp, #TF_VECTOR]
	ALL_PAIRS stp
	mrs x2, elr_el1
	mrs x3, spsr_el1
	mrs x4, esr_el1
	mrs x5, far_el1
	stp x2, x3, [sp, #TF_PC]
	stp x4, x5, [sp, #TF_ESR]
	add x1, sp, #TF_SIZE
	tst x3, #PSTATE_MODE
	b.ne 1f
	mrs x1, sp_el0
1:	stp x30, x1, [sp, #TF_X30]

	/* Make it look as if the code had called us; the user's chain is not ours. */
	mov x0, sp
	stp x29, x2, [sp, #-16]!
	mov x29, sp
	b.ne 2f
	mov x29, xzr
2:	bl trap
	add sp, sp, #16
END trap_entry

/* sp = struct trapframe, interrupts disabled */
FUNC trap_return
	ldp x2, x3, [sp, #TF_PC]
	ldp x30, x1, [sp, #TF_X30]
	msr elr_el1, x2
	msr spsr_el1, x3
	tst x3, #PSTATE_MODE
	b.ne 1f
	msr sp_el0, x1
1:	ldp x0, x1, [sp]
	ALL_PAIRS ldp
	add sp, sp, #TF_SIZE
	eret
END trap_return
