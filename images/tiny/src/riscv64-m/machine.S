/*
 * machine.S: the first instructions, in machine mode, and its trap handler. There is no
 * firmware: a0 is the number of the hart, a1 the address of the device tree.
 */
#include "asm.h"
#include "machine.h"

#define STACK_SIZE 0x1000
#define ENVIRONMENT_CALL 9 /* of the supervisor */

	.section .text.machine, "ax"
FUNC machine_start
	bnez a0, 2f
	lla sp, machine_stack + STACK_SIZE
	li fp, 0
	mv s1, a1
	mv a0, a1
	call machine_init
	li t0, MSTATUS_MPP
	csrc mstatus, t0
	li t0, MSTATUS_MPP_SUPERVISOR
	csrs mstatus, t0
	lla t0, _start
	csrw mepc, t0
	li a0, 0
	mv a1, s1
	mret
2:	wfi			/* another hart */
	j 2b
END machine_start

/*
 * The machine's timer: the next tick, and a software interrupt for the supervisor. A call of
 * the supervisor is answered as if there were firmware that has everything.
 */
FUNC machine_trap
	csrrw t0, mscratch, t0
	sd t1, (t0)
	sd t2, 8(t0)
	csrr t1, mcause
	bgez t1, 1f
	ld t1, AREA_COMPARE(t0)
	sd t3, 16(t0)
	ld t2, (t1)
	ld t3, AREA_INTERVAL(t0)
	add t2, t2, t3
	sd t2, (t1)
	ld t3, 16(t0)
	li t1, 1 << INTERRUPT_SOFTWARE
	csrs mip, t1
2:	ld t1, (t0)
	ld t2, 8(t0)
	csrrw t0, mscratch, t0
	mret
1:	li t2, ENVIRONMENT_CALL
	bne t1, t2, 3f
	csrr t1, mepc
	addi t1, t1, 4
	csrw mepc, t1
	li a0, 0
	li a1, 1
	j 2b
3:	wfi			/* what is not expected ends here */
	j 3b
END machine_trap

	.bss
	.balign 16
	.type machine_stack, @object
	.size machine_stack, STACK_SIZE
machine_stack:
	.skip STACK_SIZE
