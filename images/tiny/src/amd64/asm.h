/* asm.h: what the assembly files share; included by C too for the numbers. */
#pragma once

#define KERNEL_BASE 0xffffffff80000000 /* virtual = physical + KERNEL_BASE */
#define DIRECT_BASE 0xffff888000000000 /* all memory, 2 MiB pages */
#define STACKS_BASE 0xffffc90000000000 /* kernel stacks, see stack.c */

/* Selectors; SYSCALL and SYSRET want them in this order. */
#define KERNEL_CS 0x10
#define KERNEL_DS 0x18
#define USER_DS 0x2b
#define USER_CS 0x33
#define TSS_SELECTOR 0x38

/* struct cpu, at %gs:0 in the kernel */
#define CPU_SELF 0
#define CPU_KERNEL_SP 8
#define CPU_USER_SP 16

/* struct trapframe */
#define TF_RBP 32
#define TF_VECTOR 120
#define TF_RIP 136
#define TF_CS 144
#define TF_FLAGS 152
#define TF_RSP 160

#define VECTOR_IRQ 0x20      /* 16 of them, from the i8259 pair */
#define VECTOR_SOFTWARE 0x81 /* an `int` that the kernel uses on itself */
#define VECTOR_SYSCALL 0x100 /* no vector: what SYSCALL leaves in the frame */

#ifdef __ASSEMBLER__
/* FUNC and END make a global function symbol with a size. */
.macro FUNC name
	.globl \name
	.type \name, @function
	.balign 16
\name:
.endm

.macro END name
	.size \name, . - \name
.endm

/* FIXUP: a fault of the instruction at `from` goes on at `to`. */
.macro FIXUP from, to
	.pushsection .ex_table, "a"
	.quad \from, \to
	.popsection
.endm

/* SAVE_REGS and RESTORE_REGS: the lower part of struct trapframe. */
.macro SAVE_REGS
	push %rdi
	push %rsi
	push %rdx
	push %rcx
	push %rax
	push %r8
	push %r9
	push %r10
	push %r11
	push %rbx
	push %rbp
	push %r12
	push %r13
	push %r14
	push %r15
.endm

.macro RESTORE_REGS
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rax
	pop %rcx
	pop %rdx
	pop %rsi
	pop %rdi
.endm
#endif
