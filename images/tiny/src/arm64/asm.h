/* asm.h: what the assembly files share; included by C too for the numbers. */
#pragma once

#define KERNEL_BASE 0xffffffff40000000 /* virtual = physical + KERNEL_BASE */
#define DIRECT_BASE 0xffff888000000000 /* all memory and devices, 1 GiB blocks */
#define DIRECT_LIMIT 0x140000000ul     /* 5 GiB: memory begins at the second */
#define STACKS_BASE 0xffffc90000000000 /* kernel stacks, see stack.c */

/* struct trapframe: x0 is at 0, and so on */
#define TF_X30 240
#define TF_SP 248
#define TF_PC 256
#define TF_PSTATE 264
#define TF_ESR 272
#define TF_FAR 280
#define TF_VECTOR 288
#define TF_SIZE 304

#define PSTATE_MODE 0xf /* 0: user */

#define PSCI_SYSTEM_OFF 0x84000008
#define PSCI_SYSTEM_RESET 0x84000009

#ifdef __ASSEMBLER__
/* FUNC and END make a global function symbol with a size. */
.macro FUNC name
	.globl \name
	.type \name, %function
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
