/* Parameters that a function no longer has, but whose callers know what they have passed. */

#define apart __attribute__((noinline, noipa))

struct pair { long first, second; };

apart long use(long v) { __asm__ volatile("" : "+r"(v)::"rdi", "rsi", "rdx", "rcx", "r8", "r9", "r10", "r11"); return v; }

apart long last(long n, struct pair *p, unsigned char c)
{
	long sum = use(n) + p->first + c;
	sum += use(1);
	return sum * use(2);
}

/* The caller has it in a register that last() has saved. */
apart long kept(long a)
{
	struct pair p = {a, 3};
	long b = use(a) + 17;
	long r = last(b, &p, 'x');
	return r + use(b) + p.second;
}

/* The caller's own is an entry value. */
apart long passed(long a, struct pair *p)
{
	use(0);
	use(1);
	return last(a, p, 7) + 1;
}

apart long constant(void)
{
	struct pair p = {1, 2};
	return passed(42, &p) + last(-5, &p, 255);
}

/* It is called by a pointer. */
apart long indirect(long (*f)(long, struct pair *, unsigned char), long a)
{
	struct pair p = {a, a};
	return f(a + 1, &p, 9) + use(a);
}

__attribute__((force_align_arg_pointer)) void _start(void)
{
	use(kept(11));
	use(constant());
	use(indirect(last, 100));
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
}
