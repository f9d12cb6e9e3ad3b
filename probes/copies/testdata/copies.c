/*
 * copies.c: inlined functions that count their calls, for a test that steps through the
 * program: every call is one entry and one return of a copy, or of the function.
 */
#define inlined static inline __attribute__((always_inline))
#define noinline __attribute__((noinline, noclone))

volatile long clamp_calls, find_calls, grow_calls, plain_calls, nested_calls, cold_calls;
volatile long sink;

/* copies in several callers, with early returns */
inlined long clamp(long x, long lo, long hi)
{
	clamp_calls++;
	if (x < lo)
		return lo;
	if (x > hi)
		return hi;
	return x;
}

noinline long clamp_byte(long x)
{
	return clamp(x, 0, 255) + 1;
}

noinline long clamp_twice(long x, long y)
{
	long a = clamp(x, -10, 10);

	sink = a;
	return clamp(y, a, 100) * 3;
}

noinline void clamp_last(long x)
{
	sink = clamp(x, 3, 7);
}

/* a loop of its own, and in a loop of the caller's */
inlined long find(const char *s, char c)
{
	find_calls++;
	for (long i = 0; s[i]; i++)
		if (s[i] == c)
			return i;
	return -1;
}

noinline long find_all(const char *s, const char *set)
{
	long sum = 0;

	for (; *set; set++)
		sum += find(s, *set);
	return sum;
}

/* a copy in a copy */
inlined long nested(long x)
{
	nested_calls++;
	return x & 1 ? clamp(x, 0, 20) : x / 2;
}

noinline long nested_caller(long x)
{
	return nested(x) + nested(x + 1);
}

/* a seldom way that compilers put elsewhere */
noinline __attribute__((cold)) void complain(long x)
{
	sink = -x;
}

inlined long checked(long x)
{
	cold_calls++;
	if (__builtin_expect(x < 0, 0)) {
		complain(x);
		return 0;
	}
	return x;
}

noinline long checked_caller(long x)
{
	return checked(x) + 5;
}

/* inlined here, and a definition that others call */
long grow(long x)
{
	grow_calls++;
	return x > 50 ? x : x * 2;
}

long (*volatile grow_pointer)(long) = grow;

noinline long grow_caller(long x)
{
	return grow(x) - 1;
}

/* inlined nowhere */
noinline long plain(long x)
{
	plain_calls++;
	sink = x;
	return x + 1;
}

void _start(void)
{
	for (long i = -30; i < 300; i += 7) {
		sink = clamp_byte(i);
		sink = clamp_twice(i, -i);
		clamp_last(i);
		sink = nested_caller(i);
		sink = checked_caller(i);
		sink = grow_caller(i);
		sink = grow_pointer(i);
		sink = plain(i);
	}
	sink = find_all("tracepoints", "xtsz");
	asm volatile("syscall" : : "a"(231), "D"(0) : "rcx", "r11", "memory");
	__builtin_unreachable();
}
