/*
 * timer.c: the firmware's timer, set anew at every interrupt, a hundred times a
 * second. Its clock counts as often as the device tree says.
 */
#include "local.h"

#define INTERRUPT_TIMER 5
#define SIE_TIMER (1ul << INTERRUPT_TIMER)

static u64 interval, deadline;

static u64 timebase(void)
{
	struct dt_node n;

	for (u32 cursor = 0; dt_next(&cursor, &n);)
		if (n.frequency.size == 4)
			return dt_cell(n.frequency.data);
	panic("the device tree has no timebase-frequency");
}

static void set_timer(void)
{
	u64 now = csr_read(time);

	deadline += interval;
	if (deadline <= now)
		deadline = now + interval;
	sbi_call(SBI_TIME, 0, deadline, 0);
}

void timer_init(void)
{
	interval = timebase() / TICK_HZ;
	deadline = csr_read(time);
	set_timer();
	csr_write(sie, SIE_TIMER);
}

/* After this nothing can wake an idle CPU. */
void timer_stop(void)
{
	csr_write(sie, 0);
}

void timer_interrupt(u64 interrupt)
{
	if (interrupt == INTERRUPT_TIMER) {
		set_timer();
		timer_tick();
	}
	if (need_resched)
		schedule();
}
