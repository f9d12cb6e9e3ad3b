/* power.c: ways in which the machine ends. */
#include "../kernel.h"

#define KEYBOARD_CONTROL 0x64
#define PULSE_RESET 0xfe

void arch_reboot(void)
{
	outb(KEYBOARD_CONTROL, PULSE_RESET);
	cpu_halt();
}

/* Without vectors no exception can be delivered, and the CPU gives up. */
void arch_triple_fault(void)
{
	struct {
		u16 limit;
		u64 base;
	} __attribute__((packed)) none = { 0, 0 };

	asm volatile("lidt %0; int3" : : "m"(none));
	cpu_halt();
}
