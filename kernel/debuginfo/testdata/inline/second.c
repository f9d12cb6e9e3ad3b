#include "inline.h"

long shared(long v);

/* Only link-time optimization inlines this into another unit. */
__attribute__((noinline)) void report(struct counter *c)
{
	c->limit = shared(c->limit);
	__asm__ volatile("" : : "r"(c) : "memory");
}

long shared(long v)
{
	return clamp(v * 3, 1000);
}

/* The copy comes before the function it is of, which has code of its own as well. */
static long later(struct counter *c);

long early(struct counter *c)
{
	return later(c) + shared(c->value);
}

static long later(struct counter *c)
{
	return c->value * c->limit;
}

long (*keep)(struct counter *) = later;

void _start(void)
{
	extern void add_all(long n);
	extern long drain(struct counter *c), near(int i, int j);

	add_all(early(&counters[1]));
	counters[0].value = drain(&counters[2]) + near(1, 2) + keep(&counters[3]);
	for (;;)
		;
}
