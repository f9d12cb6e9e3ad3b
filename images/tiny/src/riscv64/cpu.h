/* cpu.h: the riscv64 side of arch.h, what is inline or a structure. */
#pragma once

#include "../types.h"
#include "asm.h"

/* Built on the kernel stack by trap.S; offsets in asm.h. */
struct trapframe {
	u64 x[32]; /* x[0] is not used */
	u64 pc, status, cause, value;
};

_Static_assert(offsetof(struct trapframe, pc) == TF_PC, "asm.h");
_Static_assert(sizeof(struct trapframe) == TF_SIZE, "asm.h");

enum { RA = 1, SP = 2, FP = 8, A0 = 10, A1, A2, A7 = 17 };

static inline u64 frame_number(const struct trapframe *f) { return f->x[A7]; }
static inline u64 frame_arg0(const struct trapframe *f) { return f->x[A0]; }
static inline u64 frame_arg1(const struct trapframe *f) { return f->x[A1]; }
static inline u64 frame_arg2(const struct trapframe *f) { return f->x[A2]; }
static inline bool frame_is_user(const struct trapframe *f) { return !(f->status & STATUS_SPP); }

#define csr_read(name) ({ \
	u64 csr_value; \
	asm volatile("csrr %0, " #name : "=r"(csr_value) : : "memory"); \
	csr_value; \
})
#define csr_write(name, value) \
	asm volatile("csrw " #name ", %0" : : "rK"((u64)(value)) : "memory")

static inline void irq_enable(void)
{
	asm volatile("csrsi sstatus, %0" : : "i"(STATUS_SIE) : "memory");
}

static inline void irq_disable(void)
{
	asm volatile("csrci sstatus, %0" : : "i"(STATUS_SIE) : "memory");
}

/* irq_save disables interrupts and returns what irq_restore wants to have. */
static inline u64 irq_save(void)
{
	u64 flags;

	asm volatile("csrrci %0, sstatus, %1" : "=r"(flags) : "i"(STATUS_SIE) : "memory");
	return flags;
}

static inline void irq_restore(u64 flags)
{
	asm volatile("csrs sstatus, %0" : : "r"(flags & STATUS_SIE) : "memory");
}

/* wfi goes on for an interrupt that is disabled, too: it cannot be missed. */
static inline void cpu_idle(void)
{
	irq_disable();
	asm volatile("wfi" : : : "memory");
	irq_enable();
}

static inline noreturn void cpu_halt(void)
{
	irq_disable();
	csr_write(sie, 0);
	for (;;)
		asm volatile("wfi");
}

/* sbi_call asks the firmware; the result is its error code, 0 for none. */
static inline s64 sbi_call(u64 extension, u64 function, u64 a, u64 b)
{
	register u64 a0 asm("a0") = a;
	register u64 a1 asm("a1") = b;
	register u64 a6 asm("a6") = function;
	register u64 a7 asm("a7") = extension;

	asm volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a6), "r"(a7) : "memory");
	return a0;
}

void machine_off(void) noreturn; /* power.c */

static always_inline u64 frame_pointer(void)
{
	return (u64)__builtin_frame_address(0);
}

/* Below a frame are the return address and the caller's frame pointer. */
static inline u64 frame_outer(u64 frame)
{
	return ((const u64 *)frame)[-2];
}

static inline u64 frame_return(u64 frame)
{
	return ((const u64 *)frame)[-1];
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
	for (u64 *p = page, *end = p + PAGE_SIZE / 8; p < end; p += 4)
		p[0] = p[1] = p[2] = p[3] = 0;
}

static inline void page_copy(void *to, const void *from)
{
	const u64 *f = from;

	for (u64 *t = to, *end = t + PAGE_SIZE / 8; t < end; t += 2, f += 2) {
		t[0] = f[0];
		t[1] = f[1];
	}
}

/* WARN: unimp, found in the bug table by its address; the handler steps over it. */
#define WARN(text) \
	asm volatile("1: unimp\n" \
		     ".pushsection .bug_table, \"a\"\n" \
		     ".balign 8\n" \
		     ".quad 1b, %0\n" \
		     ".popsection" : : "i"(text) : "memory")

/* get_user_byte reads a byte of the user's; false: bad address. */
static inline bool get_user_byte(char *value, u64 addr)
{
	u64 failed = 0, v = 0;

	asm volatile("1: lbu %1, (%2)\n"
		     "2:\n"
		     ".pushsection .text.fixup, \"ax\"\n"
		     "3: li %0, 1\n"
		     "j 2b\n"
		     ".popsection\n"
		     ".pushsection .ex_table, \"a\"\n"
		     ".balign 8\n"
		     ".quad 1b, 3b\n"
		     ".popsection"
		     : "+r"(failed), "+r"(v) : "r"(addr) : "memory");
	*value = v;
	return !failed;
}
