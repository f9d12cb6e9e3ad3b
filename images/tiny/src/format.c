/*
 * format.c: printf's formats as far as they are used here:
 * %[0][width]{d,u,x,ld,lu,lx,s,c,%}. Shared with the user programs.
 */
#include "kernel.h"

struct out {
	char *buf;
	size_t size, n;
};

static inline void put(struct out *o, char c)
{
	if (o->n + 1 < o->size)
		o->buf[o->n] = c;
	o->n++;
}

static void put_padded(struct out *o, const char *s, int width, char pad)
{
	for (int n = strlen(s); n < width; n++)
		put(o, pad);
	while (*s)
		put(o, *s++);
}

static void put_number(struct out *o, u64 value, bool negative, u32 base, int width, char pad)
{
	char digits[24], *p = digits + sizeof digits;

	*--p = 0;
	do
		*--p = "0123456789abcdef"[value % base];
	while (value /= base);
	if (negative)
		*--p = '-';
	put_padded(o, p, width, pad);
}

/* format returns the length of the whole text; buf may hold less of it. */
int format(char *buf, size_t size, const char *fmt, va_list args)
{
	struct out o = { buf, size, 0 };

	for (; *fmt; fmt++) {
		char pad = ' ', c[2] = { 0 };
		int width = 0;
		bool wide = false;
		s64 value;

		if (*fmt != '%') {
			put(&o, *fmt);
			continue;
		}
		if (*++fmt == '0')
			pad = *fmt++;
		while (*fmt >= '0' && *fmt <= '9')
			width = width * 10 + *fmt++ - '0';
		if (*fmt == 'l')
			wide = *fmt++;
		switch (*fmt) {
		case 'd':
			value = wide ? va_arg(args, s64) : va_arg(args, s32);
			put_number(&o, value < 0 ? -(u64)value : (u64)value, value < 0, 10, width, pad);
			break;
		case 'u':
			put_number(&o, wide ? va_arg(args, u64) : va_arg(args, u32), false, 10, width, pad);
			break;
		case 'x':
			put_number(&o, wide ? va_arg(args, u64) : va_arg(args, u32), false, 16, width, pad);
			break;
		case 's':
			put_padded(&o, va_arg(args, const char *), width, ' ');
			break;
		case 'c':
			c[0] = va_arg(args, int);
			put_padded(&o, c, width, ' ');
			break;
		default:
			put(&o, *fmt);
		}
	}
	if (size)
		buf[min(o.n, size - 1)] = 0;
	return o.n;
}

int print_to(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = format(buf, size, fmt, args);
	va_end(args);
	return n;
}
