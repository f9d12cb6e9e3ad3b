/*
 * timer.c: the i8254 interrupts a hundred times a second, through the first
 * of the two i8259 interrupt controllers. All other lines are masked.
 */
#include "local.h"

#define PIC1 0x20
#define PIC2 0xa0
#define PIC_INIT 0x11
#define PIC_EOI 0x20
#define PIC_READ_SERVICE 0x0b
#define PIT_COUNTER0 0x40
#define PIT_CONTROL 0x43
#define PIT_RATE_GENERATOR 0x34
#define PIT_HZ 1193182
#define IRQ_TIMER 0

static void pic_init(void)
{
	outb(PIC1, PIC_INIT);
	outb(PIC2, PIC_INIT);
	outb(PIC1 + 1, VECTOR_IRQ);
	outb(PIC2 + 1, VECTOR_IRQ + 8);
	outb(PIC1 + 1, 1 << 2); /* the second one is on line 2 */
	outb(PIC2 + 1, 2);
	outb(PIC1 + 1, 1); /* 8086 mode */
	outb(PIC2 + 1, 1);
	outb(PIC1 + 1, (u8) ~(1 << IRQ_TIMER));
	outb(PIC2 + 1, 0xff);
}

void timer_init(void)
{
	u16 count = (PIT_HZ + TICK_HZ / 2) / TICK_HZ;

	pic_init();
	outb(PIT_CONTROL, PIT_RATE_GENERATOR);
	outb(PIT_COUNTER0, count & 0xff);
	outb(PIT_COUNTER0, count >> 8);
}

/* After this nothing can wake an idle CPU. */
void timer_stop(void)
{
	outb(PIC1 + 1, 0xff);
}

/* A line that went away before it was acknowledged comes as line 7. */
static bool spurious(u64 irq)
{
	if (irq != 7)
		return false;
	outb(PIC1, PIC_READ_SERVICE);
	return !(inb(PIC1) & 1 << 7);
}

void timer_interrupt(u64 irq)
{
	if (spurious(irq))
		return;
	if (irq >= 8)
		outb(PIC2, PIC_EOI);
	outb(PIC1, PIC_EOI);
	if (irq == IRQ_TIMER)
		timer_tick();
	if (need_resched)
		schedule();
}
