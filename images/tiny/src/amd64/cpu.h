/* cpu.h: the amd64 side of arch.h, what is inline or a structure. */
#pragma once

#include "../types.h"
#include "asm.h"

/* Built on the kernel stack by trap.S and syscall.S; offsets in asm.h. */
struct trapframe {
	u64 r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8;
	u64 rax, rcx, rdx, rsi, rdi;
	u64 vector, error;
	u64 rip, cs, flags, rsp, ss; /* pushed by the CPU */
};

_Static_assert(offsetof(struct trapframe, rbp) == TF_RBP, "asm.h");
_Static_assert(offsetof(struct trapframe, vector) == TF_VECTOR, "asm.h");
_Static_assert(offsetof(struct trapframe, rsp) == TF_RSP, "asm.h");

/* What SYSCALL needs before it has a stack; %gs points here in the kernel. */
struct cpu {
	struct cpu *self;
	u64 kernel_sp, user_sp;
};

extern struct cpu cpu0;

#define FLAG_IF 0x200ul

static inline u64 frame_number(const struct trapframe *f) { return f->rax; }
static inline u64 frame_arg0(const struct trapframe *f) { return f->rdi; }
static inline u64 frame_arg1(const struct trapframe *f) { return f->rsi; }
static inline u64 frame_arg2(const struct trapframe *f) { return f->rdx; }
static inline bool frame_is_user(const struct trapframe *f) { return f->cs & 3; }

static inline void outb(u16 port, u8 value)
{
	asm volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static inline u8 inb(u16 port)
{
	u8 value;

	asm volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline u64 read_msr(u32 msr)
{
	u32 low, high;

	asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (u64)high << 32 | low;
}

static inline void write_msr(u32 msr, u64 value)
{
	asm volatile("wrmsr" : : "c"(msr), "a"((u32)value), "d"((u32)(value >> 32)));
}

static inline void irq_enable(void)
{
	asm volatile("sti" : : : "memory");
}

static inline void irq_disable(void)
{
	asm volatile("cli" : : : "memory");
}

/* irq_save disables interrupts and returns what irq_restore wants to have. */
static inline u64 irq_save(void)
{
	u64 flags;

	asm volatile("pushfq; popq %0" : "=r"(flags) : : "memory");
	irq_disable();
	return flags;
}

static inline void irq_restore(u64 flags)
{
	if (flags & FLAG_IF)
		irq_enable();
}

/* No interrupt comes between sti and hlt: the idle CPU cannot miss one. */
static inline void cpu_idle(void)
{
	asm volatile("sti; hlt" : : : "memory");
}

static inline noreturn void cpu_halt(void)
{
	for (;;)
		asm volatile("cli; hlt");
}

static always_inline u64 frame_pointer(void)
{
	return (u64)__builtin_frame_address(0);
}

/* A frame begins with the caller's frame pointer and the return address. */
static inline u64 frame_outer(u64 frame)
{
	return ((const u64 *)frame)[0];
}

static inline u64 frame_return(u64 frame)
{
	return ((const u64 *)frame)[1];
}

static inline void *phys_to_virt(u64 pa)
{
	return (void *)(pa + DIRECT_BASE);
}

static inline u64 virt_to_phys(const void *va)
{
	return (u64)va - DIRECT_BASE;
}

static inline u64 image_to_phys(const void *symbol)
{
	return (u64)symbol - KERNEL_BASE;
}

static inline void page_clear(void *page)
{
	u64 n = PAGE_SIZE / 8;

	asm volatile("rep stosq" : "+D"(page), "+c"(n) : "a"(0) : "memory");
}

static inline void page_copy(void *to, const void *from)
{
	u64 n = PAGE_SIZE / 8;

	asm volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

/* WARN: ud2, found in the bug table by its address; the handler steps over it. */
#define WARN(text) \
	asm volatile("1: ud2\n" \
		     ".pushsection .bug_table, \"a\"\n" \
		     ".quad 1b, %c0\n" \
		     ".popsection" : : "i"(text) : "memory")

/* get_user_byte reads a byte of the user's; false: bad address. */
static inline bool get_user_byte(char *value, u64 addr)
{
	int failed = 0;
	char v = 0;

	asm volatile("1: movb (%2), %1\n"
		     "2:\n"
		     ".pushsection .text.fixup, \"ax\"\n"
		     "3: movl $1, %0\n"
		     "jmp 2b\n"
		     ".popsection\n"
		     ".pushsection .ex_table, \"a\"\n"
		     ".quad 1b, 3b\n"
		     ".popsection"
		     : "+r"(failed), "+q"(v) : "r"(addr) : "memory");
	*value = v;
	return !failed;
}

#define machine_off cpu_halt /* power is a matter of ACPI, which we leave alone */
