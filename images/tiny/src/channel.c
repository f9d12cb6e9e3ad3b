/*
 * channel.c: frames between init and the host, on the second serial port:
 * a type, the length in two bytes (low one first), and so many bytes.
 *
 *	to the host    R ready   O output   E error output   S status
 *	from the host  C command line
 */
#include "kernel.h"

static bool open;

bool channel_open(void)
{
	open = uart_init(CHANNEL);
	return open;
}

void channel_send(char type, const void *data, u32 n)
{
	char header[3] = { type, n & 0xff, n >> 8 };
	u64 flags = irq_save();

	uart_write(CHANNEL, header, sizeof header);
	uart_write(CHANNEL, data, n);
	irq_restore(flags);
}

/* A byte, or -1 when none came before the given tick. */
static int read_byte(u64 deadline)
{
	int c;

	while ((c = uart_read(CHANNEL)) < 0) {
		if (ticks >= deadline)
			return -1;
		sleep_ticks(1);
	}
	return c;
}

/* channel_command waits for a C frame and makes a string of it. */
bool channel_command(char *line, u32 size, u64 timeout_ticks)
{
	u64 deadline = ticks + timeout_ticks;
	int type, low, high, c;
	u32 n;

	if (!open)
		return false;
	type = read_byte(deadline);
	low = read_byte(deadline);
	high = read_byte(deadline);
	if (type != 'C' || low < 0 || high < 0)
		return false;
	n = high << 8 | low;
	for (u32 i = 0; i < n; i++) {
		c = read_byte(deadline);
		if (c < 0)
			return false;
		if (i < size - 1)
			line[i] = c;
	}
	line[min(n, size - 1)] = 0;
	return true;
}
