/* uart.c: the 16550 serial ports of the device tree, written and read by polling. */
#include "../virt/virt.h"

enum { DATA, INTERRUPTS, FIFO, LINE, MODEM, LINE_STATUS };

#define LINE_8N1 0x03
#define LINE_DIVISOR 0x80
#define FIFO_ENABLE_CLEAR 0x07
#define MODEM_DTR_RTS 0x03
#define STATUS_DATA 0x01
#define STATUS_EMPTY 0x20

static volatile u8 *base[2];

bool uart_init(int port)
{
	u64 at = device_base("ns16550a", port, 0);
	volatile u8 *io = phys_to_virt(at);

	if (!at)
		return false;
	base[port] = io;
	io[INTERRUPTS] = 0;
	io[LINE] = LINE_DIVISOR;
	io[DATA] = 1; /* 115200 baud */
	io[INTERRUPTS] = 0;
	io[LINE] = LINE_8N1;
	io[FIFO] = FIFO_ENABLE_CLEAR;
	io[MODEM] = MODEM_DTR_RTS;
	return true;
}

void uart_write(int port, const char *data, u32 n)
{
	volatile u8 *io = base[port];

	for (u32 i = 0; io && i < n; i++) {
		while (!(io[LINE_STATUS] & STATUS_EMPTY))
			;
		io[DATA] = data[i];
	}
}

int uart_read(int port)
{
	volatile u8 *io = base[port];

	if (!io || !(io[LINE_STATUS] & STATUS_DATA))
		return -1;
	return io[DATA];
}
