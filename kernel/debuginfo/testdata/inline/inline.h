/* Functions to be inlined: into each other, into several callers, in two units. */
struct counter {
	long value, limit;
};

extern struct counter counters[4];
extern void report(struct counter *c) __attribute__((cold, noinline));

static inline __attribute__((always_inline)) long clamp(long v, long limit)
{
	return v > limit ? limit : v;
}

static inline __attribute__((always_inline)) void add(struct counter *c, long n)
{
	c->value = clamp(c->value + n, c->limit);
	if (__builtin_expect(c->value < 0, 0))
		report(c);
}

/* Inlined, and called: it has a regular definition too. */
extern long distance(struct counter *a, struct counter *b);
