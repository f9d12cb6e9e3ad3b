/* uart.c: the PL011 serial ports of the device tree, written and read by polling. */
#include "../virt/virt.h"

enum { DATA = 0, FLAGS = 0x18, INTEGER_DIVISOR = 0x24, FRACTION = 0x28, LINE = 0x2c, CONTROL = 0x30, MASK = 0x38 };

#define FLAG_NO_DATA 0x10
#define FLAG_FULL 0x20
#define LINE_8N1_FIFO 0x70
#define CONTROL_ON 0x301

static volatile char *base[2];

static inline void put(volatile char *io, u32 offset, u32 value)
{
	*(volatile u32 *)(io + offset) = value;
}

static inline u32 get(volatile char *io, u32 offset)
{
	return *(volatile u32 *)(io + offset);
}

bool uart_init(int port)
{
	u64 at = device_base("arm,pl011", port, 0);
	volatile char *io = phys_to_virt(at);

	if (!at)
		return false;
	base[port] = io;
	put(io, CONTROL, 0);
	put(io, MASK, 0);
	put(io, INTEGER_DIVISOR, 13); /* 115200 baud of 24 MHz */
	put(io, FRACTION, 1);
	put(io, LINE, LINE_8N1_FIFO);
	put(io, CONTROL, CONTROL_ON);
	return true;
}

void uart_write(int port, const char *data, u32 n)
{
	volatile char *io = base[port];

	for (u32 i = 0; io && i < n; i++) {
		while (get(io, FLAGS) & FLAG_FULL)
			;
		put(io, DATA, (u8)data[i]);
	}
}

int uart_read(int port)
{
	volatile char *io = base[port];

	if (!io || get(io, FLAGS) & FLAG_NO_DATA)
		return -1;
	return get(io, DATA) & 0xff;
}
