/* user_fault.c: every way in which a program can be wrong on amd64. */
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
	store(0xffffffff80100000);
}

static void write_text(void)
{
	store((u64)write_text);
}

static void run_data(void)
{
	((void (*)(void))&word)();
}

static void divide(void)
{
	asm volatile("xor %%edx, %%edx; xor %%ecx, %%ecx; div %%ecx" : : : "eax", "ecx", "edx");
}

static void invalid(void)
{
	asm volatile("ud2");
}

static void breakpoint(void)
{
	asm volatile("int3");
}

static void privileged(void)
{
	asm volatile("cli");
}

static void port(void)
{
	asm volatile("outb %al, $0x80");
}

static void single_step(void)
{
	asm volatile("pushfq; orq $0x100, (%rsp); popfq; nop");
}

const struct fault_kind fault_kinds[] = {
	{ "null", null_pointer },
	{ "kernel", kernel_address },
	{ "text", write_text },
	{ "nx", run_data },
	{ "divide", divide },
	{ "invalid", invalid },
	{ "breakpoint", breakpoint },
	{ "privileged", privileged },
	{ "port", port },
	{ "step", single_step },
	{ NULL, NULL },
};
