#include "inline.h"

struct counter counters[4];

inline __attribute__((always_inline)) long distance(struct counter *a, struct counter *b)
{
	long d = a->value - b->value;
	return d < 0 ? -d : d;
}

__attribute__((noinline)) long near(int i, int j)
{
	return distance(&counters[i & 3], &counters[j & 3]) < 10;
}

long (*chosen)(struct counter *, struct counter *) = distance;

__attribute__((noinline)) void add_all(long n)
{
	for (int i = 0; i < 4; i++)
		add(&counters[i], n);
}

/* A path that is taken seldom goes to .text.unlikely. */
__attribute__((noinline)) long drain(struct counter *c)
{
	long sum = 0;
	while (c->value > 0) {
		if (__builtin_expect(c->limit == 7, 0)) {
			report(c);
			add(c, sum);
			report(c + 1);
			sum += clamp(c->limit, sum);
		}
		sum += c->value--;
	}
	return sum;
}
