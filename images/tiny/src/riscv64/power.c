/* power.c: ways in which the machine ends; the firmware knows how. */
#include "../kernel.h"

enum { SHUTDOWN, COLD_REBOOT };
enum { NO_REASON, SYSTEM_FAILURE };

void machine_off(void)
{
	sbi_call(SBI_RESET, 0, SHUTDOWN, NO_REASON);
	cpu_halt();
}

void arch_reboot(void)
{
	sbi_call(SBI_RESET, 0, COLD_REBOOT, NO_REASON);
	cpu_halt();
}

/* There is nothing like a triple fault: a hart can fault for ever. */
void arch_triple_fault(void)
{
	sbi_call(SBI_RESET, 0, COLD_REBOOT, SYSTEM_FAILURE);
	cpu_halt();
}
