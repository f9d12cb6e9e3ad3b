/* power.c: ways in which the machine ends; the firmware knows how (PSCI). */
#include "../kernel.h"

static void psci(u32 function)
{
	register u64 x0 asm("x0") = function;

	asm volatile("hvc #0" : "+r"(x0) : : "x1", "x2", "x3", "memory");
}

void machine_off(void)
{
	psci(PSCI_SYSTEM_OFF);
	cpu_halt();
}

void arch_reboot(void)
{
	psci(PSCI_SYSTEM_RESET);
	cpu_halt();
}

/* There is nothing like a triple fault: a CPU can fault for ever. */
void arch_triple_fault(void)
{
	arch_reboot();
}
