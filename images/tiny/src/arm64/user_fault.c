/* user_fault.c: every way in which a program can be wrong on arm64. */
#include "../user/user.h"

static u64 word;

/* The compiler must not know that the address is a bad one. */
static void store(u64 addr)
{
	asm volatile("" : "+r"(addr));
	*(volatile int *)addr = 1;
}

static void null_pointer(void)
{
	store(0x10);
}

static void kernel_address(void)
{
	store(0xffffffff80200000);
}

static void write_text(void)
{
	store((u64)write_text);
}

static void run_data(void)
{
	((void (*)(void))&word)();
}

static void jump_null(void)
{
	asm volatile("br xzr");
}

static void jump_odd(void)
{
	asm volatile("br %0" : : "r"((u64)jump_odd + 2));
}

static void invalid(void)
{
	asm volatile("udf #0");
}

static void breakpoint(void)
{
	asm volatile("brk #0");
}

static void privileged(void)
{
	asm volatile("msr daifset, #2");
}

static void system(void)
{
	u64 value;

	asm volatile("mrs %0, ttbr0_el1" : "=r"(value));
}

static void return_trap(void)
{
	asm volatile("eret");
}

const struct fault_kind fault_kinds[] = {
	{ "null", null_pointer },
	{ "kernel", kernel_address },
	{ "text", write_text },
	{ "nx", run_data },
	{ "jump", jump_null },
	{ "odd", jump_odd },
	{ "invalid", invalid },
	{ "breakpoint", breakpoint },
	{ "privileged", privileged },
	{ "system", system },
	{ "eret", return_trap },
	{ NULL, NULL },
};
