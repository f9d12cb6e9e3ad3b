/*
 * shapes.c: the shapes that compilers give to functions, each in a few lines,
 * for a tracer to meet: inline copies in several callers, nested, with early
 * returns, in loops; tail calls, jump tables, recursion, function pointers.
 * Each check computes something whose result is known.
 */
#include "kernel.h"

/* ---- one inline function, four callers ---- */

static always_inline u32 mix(u32 x, u32 y)
{
	x ^= y + 0x9e3779b9 + (x << 6) + (x >> 2);
	return x;
}

static noinline u32 mix_once(u32 x)
{
	return mix(x, 1);
}

static noinline u32 mix_twice(u32 x)
{
	return mix(mix(x, 1), 2);
}

static int shape_inline_callers(void)
{
	if (mix_once(mix_once(7)) == mix_once(7))
		return 1;
	return mix_twice(7) == mix(mix_once(7), 2) ? 0 : 2;
}
CHECK_SHAPE(inline_callers);

/* ---- an early return: the copy has several exits ---- */

static always_inline int find_byte(const u8 *p, int n, u8 byte)
{
	for (int i = 0; i < n; i++)
		if (p[i] == byte)
			return i;
	return -1;
}

static noinline int find_either(const u8 *p, int n, u8 a, u8 b)
{
	int at = find_byte(p, n, a);

	if (at >= 0)
		return at;
	return find_byte(p, n, b);
}

static int shape_inline_early_return(void)
{
	static const u8 data[] = "tracer";

	if (find_either(data, 6, 'x', 'c') != 3)
		return 1;
	if (find_either(data, 6, 'r', 'c') != 1)
		return 2;
	return find_either(data, 6, 'x', 'y') == -1 ? 0 : 3;
}
CHECK_SHAPE(inline_early_return);

/* ---- an inline function in an inline function in an inline function ---- */

static always_inline u32 innermost(u32 x)
{
	return x % 3 ? x + 1 : x / 3;
}

static always_inline u32 middle(u32 x)
{
	return innermost(x) + innermost(x + 1);
}

static always_inline u32 outermost(u32 x)
{
	return x > 10 ? middle(x) : 10;
}

static noinline u32 nested(u32 x)
{
	return outermost(x) * 2;
}

static int shape_inline_nested(void)
{
	if (nested(3) != 20)
		return 1;
	return nested(12) == 2 * (4 + 14) ? 0 : 2;
}
CHECK_SHAPE(inline_nested);

/* ---- inlined in a loop ---- */

static always_inline u32 rotate(u32 x, int n)
{
	return x << n | x >> (32 - n);
}

static noinline u32 hash(const char *s)
{
	u32 h = 2166136261u;

	for (; *s; s++)
		h = rotate(h ^ (u8)*s, 5) * 16777619;
	return h;
}

static int shape_inline_loop(void)
{
	return hash("trap") != hash("part") && hash("trap") == hash("trap") ? 0 : 1;
}
CHECK_SHAPE(inline_loop);

/* ---- tail calls: a jump at the end of the function ---- */

static noinline u32 tail_end(u32 x, u32 depth)
{
	asm volatile("" : "+r"(x));
	return x + depth;
}

static noinline u32 tail_middle(u32 x)
{
	asm volatile("" : "+r"(x));
	return tail_end(x * 2, 1);
}

static noinline u32 tail_start(u32 x)
{
	asm volatile("" : "+r"(x));
	return tail_middle(x + 3);
}

static u32 (*volatile tail_pointer)(u32) = tail_middle;

static noinline u32 tail_indirect(u32 x)
{
	return tail_pointer(x + 1);
}

static int shape_tail_call(void)
{
	if (tail_start(4) != 15)
		return 1;
	return tail_indirect(4) == 11 ? 0 : 2;
}
CHECK_SHAPE(tail_call);

/* ---- a switch that becomes a table of addresses ---- */

static noinline int jump_table(int op, int a, int b)
{
	switch (op) {
	case 0:
		return a + b;
	case 1:
		return a - b;
	case 2:
		return a * b;
	case 3:
		return b ? a / b : 0;
	case 4:
		return a & b;
	case 5:
		return a | b;
	case 6:
		return a ^ b;
	case 7:
		return a << (b & 31);
	default:
		return -1;
	}
}

static int shape_jump_table(void)
{
	static const int want[] = { 14, 10, 24, 6, 0, 14, 14, 48, -1 };

	for (u32 op = 0; op < countof(want); op++)
		if (jump_table(op, 12, 2) != want[op])
			return op + 1;
	return 0;
}
CHECK_SHAPE(jump_table);

/* ---- recursion: direct, mutual, and deep enough for many frames ---- */

static noinline u64 ackermann(u64 m, u64 n)
{
	if (m == 0)
		return n + 1;
	if (n == 0)
		return ackermann(m - 1, 1);
	return ackermann(m - 1, ackermann(m, n - 1));
}

static noinline bool is_odd(u32 n);

static noinline bool is_even(u32 n)
{
	bool result = n == 0 || is_odd(n - 1);

	asm volatile("" : "+r"(result)); /* not a tail call */
	return result;
}

static noinline bool is_odd(u32 n)
{
	bool result = n != 0 && is_even(n - 1);

	asm volatile("" : "+r"(result));
	return result;
}

static int shape_recursion(void)
{
	if (ackermann(2, 3) != 9)
		return 1;
	return is_even(100) && is_odd(51) ? 0 : 2;
}
CHECK_SHAPE(recursion);

/* ---- many arguments, some on the stack; a structure by value ---- */

struct big {
	u64 word[5];
};

static noinline u64 many_arguments(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f,
				   u64 g, u64 h, struct big big)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h +
	       9 * big.word[4];
}

static int shape_arguments(void)
{
	struct big big = { { 1, 2, 3, 4, 5 } };

	return many_arguments(1, 2, 3, 4, 5, 6, 7, 8, big) == 204 + 45 ? 0 : 1;
}
CHECK_SHAPE(arguments);

/* ---- a variable sized frame: the stack pointer moves in the function ---- */

static noinline u32 variable_frame(u32 n)
{
	u32 squares[n], sum = 0;

	for (u32 i = 0; i < n; i++)
		squares[i] = i * i;
	asm volatile("" : : "r"(squares) : "memory");
	for (u32 i = 0; i < n; i++)
		sum += squares[i];
	return sum;
}

static int shape_variable_frame(void)
{
	return variable_frame(4) == 14 && variable_frame(9) == 204 ? 0 : 1;
}
CHECK_SHAPE(variable_frame);

/* ---- a function that is called through a pointer only ---- */

static u32 add_one(u32 x)
{
	return x + 1;
}

static u32 twice(u32 x)
{
	return x * 2;
}

static u32 (*volatile const steps[])(u32) = { add_one, twice, add_one, twice };

static int shape_pointers(void)
{
	u32 x = 5;

	for (u32 i = 0; i < countof(steps); i++)
		x = steps[i](x);
	return x == 26 ? 0 : 1;
}
CHECK_SHAPE(pointers);

/* ---- a deliberate illegal instruction in C ---- */

static int shape_warning(void)
{
	u32 before = bug_count;

	WARN("expected by shape_warning");
	return bug_count == before + 1 ? 0 : 1;
}
CHECK_SHAPE(warning);
