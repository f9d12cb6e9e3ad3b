/* awkward_system.S: the interrupt mask, control registers, the firmware. */
#include "awkward.h"

#define SBI_BASE 0x10
#define STATUS_SPP_SPIE 0x120

	.text
/* Every way to read and write the bit that lets interrupts in. */
AWKWARD interrupts
	csrr a0, sstatus
	andi a0, a0, STATUS_SIE
	IS a0, 2
	csrrci a0, sstatus, STATUS_SIE
	csrr a1, sstatus
	csrsi sstatus, STATUS_SIE
	andi a0, a0, STATUS_SIE
	IS a0, 2
	andi a1, a1, STATUS_SIE
	IS a1, 0
	li a2, STATUS_SIE
	csrrc a0, sstatus, a2
	csrrs a1, sstatus, a2
	csrr a3, sstatus
	and a0, a0, a2
	IS a0, 2
	and a1, a1, a2
	IS a1, 0
	and a3, a3, a2
	IS a3, 2
	csrrw a0, sstatus, zero		/* everything off ... */
	csrrw a1, sstatus, a0		/* ... and on */
	andi a1, a1, STATUS_SIE
	IS a1, 0
	csrrsi a0, sstatus, 0		/* reads only */
	andi a0, a0, STATUS_SIE
	IS a0, 2
	csrrs a0, sstatus, zero
	andi a0, a0, STATUS_SIE
	IS a0, 2
	csrrci zero, sstatus, STATUS_SIE
	csrw sscratch, zero
	csrrsi zero, sstatus, STATUS_SIE
DONE interrupts

/* The register that is written is the one that is read. */
AWKWARD same_register
	csrci sstatus, STATUS_SIE
	li a0, 0x77
	csrrw a0, sscratch, a0
	csrrw a1, sscratch, a0		/* as it was */
	csrsi sstatus, STATUS_SIE
	IS a0, 0
	IS a1, 0x77
	li a0, STATUS_SIE
	csrrc a0, sstatus, a0
	csrs sstatus, a0
	andi a0, a0, STATUS_SIE
	IS a0, 2
DONE same_register

/* The tick that ends wfi cannot be missed, whether interrupts are on or off. */
AWKWARD wait
	li s2, 3
1:	csrci sstatus, STATUS_SIE
	lla a0, ticks
	ld s3, (a0)
	wfi
	ld a1, (a0)
	EQUAL a1, s3
	csrsi sstatus, STATUS_SIE
	ld a1, (a0)
	STEP
	bgeu s3, a1, 9f
	addi s2, s2, -1
	bnez s2, 1b
	ld s3, (a0)
2:	wfi
	ld a1, (a0)
	beq a1, s3, 2b
DONE wait

AWKWARD trap_return
	csrci sstatus, STATUS_SIE
	lla a0, 1f
	csrw sepc, a0
	li a0, STATUS_SPP_SPIE
	csrs sstatus, a0
	STEP
	sret
	j 9f
1:	csrr a0, sstatus
	andi a0, a0, STATUS_SIE
	IS a0, 2			/* interrupts came back with it */
DONE trap_return

AWKWARD fences
	fence
	fence rw, w
	fence.tso
	fence.i
	sfence.vma
	sfence.vma zero, zero
	lla a0, ticks
	sfence.vma a0
DONE fences

AWKWARD control_registers
	csrr a0, satp
	csrw satp, a0
	srli a0, a0, 60
	IS a0, 8
	csrr a0, stvec
	lla a1, trap_entry
	EQUAL a0, a1
	csrr a0, sie
	csrw sie, a0
	csrr a0, sip
	csrr a0, scounteren
	csrw scounteren, a0
DONE control_registers

AWKWARD clock
	rdtime a0
	rdtime a1
	STEP
	bltu a1, a0, 9f
	csrrs a2, time, zero
	STEP
	bltu a2, a1, 9f
DONE clock

AWKWARD firmware
	li a7, SBI_BASE
	li a6, 0			/* version of the specification */
	li a1, 0
	ecall
	IS a0, 0
	STEP
	beqz a1, 9f
	li a7, SBI_BASE
	li a6, 3			/* is there ... */
	li a0, SBI_TIME
	ecall
	IS a0, 0
	IS a1, 1
DONE firmware
