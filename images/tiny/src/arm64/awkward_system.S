/* awkward_system.S: the interrupt mask, system registers, the firmware. */
#include "awkward.h"

#define PSCI_VERSION 0x84000000
#define MASK_IRQ 0x80
#define EL1H 5

	.text
/* Every way to read and write the bit that keeps interrupts out. */
AWKWARD interrupts
	mrs x0, daif
	tst x0, #MASK_IRQ
	EXPECT eq
	msr daifset, #2
	mrs x0, daif
	msr daifclr, #2
	tst x0, #MASK_IRQ
	EXPECT ne
	mov x0, #0x3c0
	msr daif, x0
	mrs x1, daif
	msr daifclr, #15
	mrs x2, daif
	EQUAL x0, x1
	IS x2, 0
	msr daifset, #2
	mrs x0, daif			/* saved ... */
	msr daifset, #2
	msr daif, x0			/* ... and restored */
	mrs x1, daif
	msr daif, xzr
	EQUAL x0, x1
DONE interrupts

/* The tick that ends wfi cannot be missed, whether interrupts are on or off. */
AWKWARD wait
	mov x20, #3
	adrp x0, ticks
	add x0, x0, :lo12:ticks
1:	msr daifset, #2
	ldr x21, [x0]
	dsb sy
	wfi
	ldr x1, [x0]
	EQUAL x1, x21
	msr daifclr, #2
	isb
	ldr x1, [x0]
	cmp x1, x21
	EXPECT hi
	sub x20, x20, #1
	cbnz x20, 1b
	ldr x21, [x0]
2:	wfi
	ldr x1, [x0]
	cmp x1, x21
	b.eq 2b
	sev
	wfe
	yield
	nop
DONE wait

AWKWARD exception_return
	msr daifset, #2
	adr x0, 1f
	msr elr_el1, x0
	mov x0, #EL1H			/* interrupts on */
	msr spsr_el1, x0
	STEP
	eret
	b 9f
1:	mrs x0, daif
	IS x0, 0
	mrs x0, currentel
	IS x0, 4
	mrs x0, spsel
	IS x0, 1
DONE exception_return

/* The kernel's own system call: the handler leaves the pc it was told in x0. */
AWKWARD supervisor_call
	adrp x1, software_count
	add x1, x1, :lo12:software_count
	ldr w20, [x1]
	svc #0x55
1:	ldr x2, =1b
	EQUAL x0, x2
	ldr w2, [x1]
	add w20, w20, #1
	EQUAL w2, w20
DONE supervisor_call

AWKWARD firmware
	ldr w0, =PSCI_VERSION
	hvc #0
	cmp w0, #2
	EXPECT ge
	ldr w0, =0x8400ffff		/* no such function */
	hvc #0
	sxtw x0, w0
	IS x0, -1
DONE firmware

AWKWARD system_registers
	mrs x0, sctlr_el1
	msr sctlr_el1, x0
	isb
	tst x0, #1
	EXPECT ne
	mrs x0, vbar_el1
	ldr x1, =trap_vectors
	EQUAL x0, x1
	mrs x0, ttbr0_el1
	msr ttbr0_el1, x0
	isb
	mrs x1, ttbr0_el1
	EQUAL x0, x1
	mrs x0, tpidr_el1
	mov x1, #0x77
	msr tpidr_el1, x1
	mrs x2, tpidr_el1
	msr tpidr_el1, x0
	EQUAL x1, x2
	mrs x0, midr_el1
	cmp x0, #0
	EXPECT ne
	mrs x0, sp_el0
	msr sp_el0, x0
	mov x0, #0xf0000000
	msr nzcv, x0
	mrs x1, nzcv
	EQUAL x0, x1
	adrp x1, ticks
	at s1e1r, x1
	isb
	mrs x0, par_el1
	tst x0, #1
	EXPECT eq
DONE system_registers

AWKWARD barriers
	dmb ish
	dsb sy
	isb
	ldr x0, =ticks
	lsr x0, x0, #12
	tlbi vaae1, x0
	tlbi vmalle1
	dsb nsh
	isb
	ic iallu
	ldr x0, =ticks
	dc cvac, x0
	dc civac, x0
	ic ivau, x0
	dsb ish
	isb
	hint #34			/* a landing pad on newer CPUs, nothing here */
	hint #25			/* signing a return address, likewise */
	hint #29
DONE barriers

AWKWARD clock
	mrs x0, cntvct_el0
	isb
	mrs x1, cntvct_el0
	cmp x1, x0
	EXPECT hs
	mrs x0, cntfrq_el0
	cmp x0, #0
	EXPECT ne
DONE clock
