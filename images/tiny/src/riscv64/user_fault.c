/* user_fault.c: every way in which a program can be wrong on riscv64. */
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
	asm volatile("jr zero");
}

static void invalid(void)
{
	asm volatile("unimp");
}

static void invalid_short(void)
{
	asm volatile("c.unimp");
}

static void breakpoint(void)
{
	asm volatile("ebreak");
}

static void privileged(void)
{
	asm volatile("csrci sstatus, 2");
}

static void firmware(void)
{
	asm volatile("csrr t0, mstatus" : : : "t0");
}

static void return_trap(void)
{
	asm volatile("sret");
}

const struct fault_kind fault_kinds[] = {
	{ "null", null_pointer },
	{ "kernel", kernel_address },
	{ "text", write_text },
	{ "nx", run_data },
	{ "jump", jump_null },
	{ "invalid", invalid },
	{ "short", invalid_short },
	{ "breakpoint", breakpoint },
	{ "privileged", privileged },
	{ "machine", firmware },
	{ "sret", return_trap },
	{ NULL, NULL },
};
