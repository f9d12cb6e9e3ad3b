/* console.c: lines from the first serial port, by interrupts. */
#include "machine.h"

enum { DATA, INTERRUPTS };

#define RECEIVED 1
#define UART_INPUT 10 /* of the PLIC */
#define END_OF_INPUT 4 /* control-D */

static char typed[256];
static u32 first, last; /* counts of bytes; the difference is in typed */
static struct wait_queue readers;

static void console_interrupt(void)
{
	int c;

	while ((c = uart_read(CONSOLE)) >= 0)
		if (last - first < sizeof typed)
			typed[last++ % sizeof typed] = c;
	wake_all(&readers);
}

void console_open(void)
{
	volatile u8 *io = phys_to_virt(device_base("ns16550a", 0, 0));

	list_init(&readers.threads);
	plic_open(UART_INPUT, console_interrupt);
	io[INTERRUPTS] = RECEIVED;
}

static char next_byte(void)
{
	u64 flags = irq_save();
	char c;

	while (first == last)
		wait_on(&readers);
	c = typed[first++ % sizeof typed];
	irq_restore(flags);
	return c;
}

void console_line(char *line, u32 size)
{
	u32 n = 0;
	char c;

	while ((c = next_byte()) != '\n' && c != '\r') {
		if (c == END_OF_INPUT && !n) {
			strcopy(line, "exit", size);
			return;
		}
		if (n + 1 < size)
			line[n++] = c;
	}
	line[n] = 0;
}
