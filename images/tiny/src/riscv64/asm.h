/* asm.h: what the assembly files share; included by C too for the numbers. */
#pragma once

#include <layout.h> /* KERNEL_BASE */

#define DIRECT_BASE 0xffffffd000000000 /* all memory and devices, 1 GiB pages */
#define DIRECT_LIMIT 0x180000000ul     /* 6 GiB: memory begins at the third */
#define STACKS_BASE 0xffffffe000000000 /* kernel stacks, see stack.c */

/* struct trapframe: x1 is at 8, and so on */
#define TF_RA 8
#define TF_SP 16
#define TF_FP 64
#define TF_A0 80
#define TF_PC 256
#define TF_STATUS 264
#define TF_CAUSE 272
#define TF_VALUE 280
#define TF_SIZE 288

#define STATUS_SIE 0x2 /* interrupts are on */
#define STATUS_SPIE 0x20
#define STATUS_SPP 0x100 /* the trap came from the kernel */
#define STATUS_SUM 0x40000 /* the kernel may touch pages of the user */

#define SBI_TIME 0x54494d45
#define SBI_RESET 0x53525354
#define SBI_HART 0x48534d

#ifdef __ASSEMBLER__
/* FUNC and END make a global function symbol with a size. */
.macro FUNC name
	.globl \name
	.type \name, @function
	.balign 4
\name:
.endm

.macro END name
	.size \name, . - \name
.endm

/* FIXUP: a fault of the instruction at `from` goes on at `to`. */
.macro FIXUP from, to
	.pushsection .ex_table, "a"
	.balign 8
	.quad \from, \to
	.popsection
.endm
#endif
