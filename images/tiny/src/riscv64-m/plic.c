/*
 * plic.c: the interrupts of devices (RISC-V PLIC specification). Context 1 is the supervisor
 * of hart 0.
 */
#include "machine.h"

#define ENABLE (0x2080 / 4)
#define THRESHOLD (0x201000 / 4)
#define CLAIM (0x201004 / 4)

#define INPUTS 32

static volatile u32 *regs;
static void (*handlers[INPUTS])(void);

void plic_open(u32 input, void (*handler)(void))
{
	if (!regs)
		regs = phys_to_virt(device_base("sifive,plic-1.0.0", 0, 0));
	handlers[input] = handler;
	regs[input] = 1; /* priority */
	regs[THRESHOLD] = 0;
	regs[ENABLE] |= 1u << input;
}

void plic_interrupt(void)
{
	u32 input;

	while ((input = regs[CLAIM]) != 0) {
		if (input < INPUTS && handlers[input])
			handlers[input]();
		regs[CLAIM] = input;
	}
}
