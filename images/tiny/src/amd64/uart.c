/* uart.c: the two 16550 serial ports, written and read by polling. */
#include "../kernel.h"

enum { DATA, INTERRUPTS, FIFO, LINE, MODEM, LINE_STATUS, MODEM_STATUS, SCRATCH };

#define LINE_8N1 0x03
#define LINE_DIVISOR 0x80
#define FIFO_ENABLE_CLEAR 0x07
#define MODEM_DTR_RTS 0x03
#define STATUS_DATA 0x01
#define STATUS_EMPTY 0x20

static const u16 base[] = { [CONSOLE] = 0x3f8, [CHANNEL] = 0x2f8 };

/* present: the scratch register remembers; where no port is, 0xff is read. */
static bool present(u16 port)
{
	outb(port + SCRATCH, 0x5a);
	return inb(port + SCRATCH) == 0x5a;
}

bool uart_init(int port)
{
	u16 io = base[port];

	if (!present(io))
		return false;
	outb(io + INTERRUPTS, 0);
	outb(io + LINE, LINE_DIVISOR);
	outb(io + DATA, 1); /* 115200 baud */
	outb(io + INTERRUPTS, 0);
	outb(io + LINE, LINE_8N1);
	outb(io + FIFO, FIFO_ENABLE_CLEAR);
	outb(io + MODEM, MODEM_DTR_RTS);
	return true;
}

void uart_write(int port, const char *data, u32 n)
{
	u16 io = base[port];

	for (u32 i = 0; i < n; i++) {
		while (!(inb(io + LINE_STATUS) & STATUS_EMPTY))
			;
		outb(io + DATA, data[i]);
	}
}

int uart_read(int port)
{
	u16 io = base[port];

	if (!(inb(io + LINE_STATUS) & STATUS_DATA))
		return -1;
	return inb(io + DATA);
}
