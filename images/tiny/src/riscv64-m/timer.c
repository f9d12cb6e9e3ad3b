/* timer.c: the supervisor's interrupts: the ticks, by one way or the other, and devices. */
#include "machine.h"

#define write_stimecmp(value) csr_write(0x14d, value) /* the assembler does not know its name */

static u64 interval, deadline;

void timer_interrupt(u64 interrupt);

static void set_timer(void)
{
	u64 now = csr_read(time);

	deadline += interval;
	if (deadline <= now)
		deadline = now + interval;
	write_stimecmp(deadline);
}

void timer_init(void)
{
	u64 ticks_by = INTERRUPT_SOFTWARE;

	if (!clint_ticks) {
		interval = timer_interval();
		deadline = csr_read(time);
		set_timer();
		ticks_by = INTERRUPT_TIMER;
	}
	csr_write(sie, 1ul << ticks_by | 1ul << INTERRUPT_EXTERNAL);
}

/* After this nothing wakes an idle CPU but the machine's timer, if that makes the ticks. */
void timer_stop(void)
{
	csr_write(sie, 0);
}

void timer_interrupt(u64 interrupt)
{
	switch (interrupt) {
	case INTERRUPT_TIMER:
		set_timer();
		timer_tick();
		break;
	case INTERRUPT_SOFTWARE:
		asm volatile("csrc sip, %0" : : "r"(1ul << INTERRUPT_SOFTWARE));
		timer_tick();
		break;
	case INTERRUPT_EXTERNAL:
		plic_interrupt();
	}
	if (need_resched)
		schedule();
}
