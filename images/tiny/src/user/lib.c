/* lib.c: the little that stands between the programs and the kernel. */
#include "user.h"

void exit(int status)
{
	for (;;)
		call1(SYS_EXIT, status);
}

s64 read(int fd, void *buf, u64 n)
{
	return system_call(SYS_READ, fd, (u64)buf, n);
}

s64 write(int fd, const void *buf, u64 n)
{
	return system_call(SYS_WRITE, fd, (u64)buf, n);
}

int print(int fd, const char *fmt, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, fmt);
	n = format(text, sizeof text, fmt, args);
	va_end(args);
	return write(fd, text, min(n, sizeof text - 1));
}

u64 number(const char *s, u64 otherwise)
{
	u64 value = 0;

	if (!s || !*s)
		return otherwise;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return otherwise;
		value = value * 10 + *s - '0';
	}
	return value;
}
