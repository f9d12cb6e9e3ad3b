/*
 * timer.c: the virtual timer of the CPU interrupts a hundred times a second,
 * through the interrupt controller (GICv2). All other interrupts are off.
 */
#include "local.h"

#define INTERRUPT_TIMER 27
#define INTERRUPT_NONE 1020 /* and above */

enum { GICD_CTLR = 0, GICD_ISENABLER = 0x100, GICD_ICENABLER = 0x180 };
enum { GICC_CTLR = 0, GICC_PMR = 4, GICC_IAR = 0xc, GICC_EOIR = 0x10 };

#define TIMER_ENABLE 1

static const char gic[] = "arm,cortex-a15-gic";
static volatile char *distributor, *interface;
static u64 interval, deadline;

static inline void write_to(volatile char *base, u32 offset, u32 value)
{
	*(volatile u32 *)(base + offset) = value;
}

static void gic_init(void)
{
	distributor = phys_to_virt(device_base(gic, 0, 0));
	interface = phys_to_virt(device_base(gic, 0, 1));
	write_to(distributor, GICD_ICENABLER, ~0u);
	write_to(distributor, GICD_ISENABLER, 1u << INTERRUPT_TIMER);
	write_to(distributor, GICD_CTLR, 1);
	write_to(interface, GICC_PMR, 0xff);
	write_to(interface, GICC_CTLR, 1);
}

static u64 now(void)
{
	barrier_instruction();
	return register_read(cntvct_el0);
}

/* The line goes down with this. */
static void set_timer(void)
{
	u64 at = now();

	deadline += interval;
	if (deadline <= at)
		deadline = at + interval;
	register_write(cntv_cval_el0, deadline);
	register_write(cntv_ctl_el0, TIMER_ENABLE);
	barrier_instruction();
}

void timer_init(void)
{
	if (!device_base(gic, 0, 1))
		panic("the device tree has no %s", gic);
	gic_init();
	interval = register_read(cntfrq_el0) / TICK_HZ;
	deadline = now();
	set_timer();
}

/* After this nothing can wake an idle CPU. */
void timer_stop(void)
{
	register_write(cntv_ctl_el0, 0);
}

void timer_interrupt(void)
{
	u32 which = *(volatile u32 *)(interface + GICC_IAR) & 0x3ff;

	if (which >= INTERRUPT_NONE)
		return;
	if (which == INTERRUPT_TIMER) {
		set_timer();
		timer_tick();
	}
	write_to(interface, GICC_EOIR, which);
	if (need_resched)
		schedule();
}
