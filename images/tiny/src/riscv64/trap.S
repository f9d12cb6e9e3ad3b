/*
 * trap.S: the way into the kernel for exceptions, interrupts and system calls.
 * sscratch holds the top of the kernel stack while the user runs, else 0.
 */
#include "asm.h"

	.text
FUNC trap_entry
	csrrw sp, sscratch, sp
	bnez sp, 1f
	csrrw sp, sscratch, sp	/* from the kernel: we have a stack */
	addi sp, sp, -TF_SIZE
	sd t0, 5 * 8(sp)
	addi t0, sp, TF_SIZE
	j 2f
1:	addi sp, sp, -TF_SIZE
	sd t0, 5 * 8(sp)
	csrrw t0, sscratch, zero
2:	sd t0, TF_SP(sp)
	sd ra, TF_RA(sp)
	.irp n, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	sd x\n, \n * 8(sp)
	.endr
	csrr t0, sepc
	sd t0, TF_PC(sp)
	csrr t1, sstatus
	sd t1, TF_STATUS(sp)
	csrr t2, scause
	sd t2, TF_CAUSE(sp)
	csrr t2, stval
	sd t2, TF_VALUE(sp)

	/* Make it look as if the code had called us; the user's chain is not ours. */
	mv a0, sp
	addi sp, sp, -16
	sd t0, 8(sp)
	sd fp, (sp)
	addi fp, sp, 16
	andi t1, t1, STATUS_SPP
	bnez t1, 1f
	li fp, 0
1:	call trap
	addi sp, sp, 16
END trap_entry

/* sp = struct trapframe, interrupts disabled */
FUNC trap_return
	ld t0, TF_STATUS(sp)
	csrw sstatus, t0
	andi t0, t0, STATUS_SPP
	bnez t0, 1f
	addi t0, sp, TF_SIZE
	csrw sscratch, t0
1:	ld t0, TF_PC(sp)
	csrw sepc, t0
	.irp n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	ld x\n, \n * 8(sp)
	.endr
	ld sp, TF_SP(sp)
	sret
END trap_return
