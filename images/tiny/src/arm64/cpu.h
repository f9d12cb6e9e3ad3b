/* cpu.h: the arm64 side of arch.h, what is inline or a structure. */
#pragma once

#include "../types.h"
#include "asm.h"

/* Built on the kernel stack by trap.S; offsets in asm.h. */
struct trapframe {
	u64 x[31];
	u64 sp, pc, pstate;
	u64 esr, far, vector;
	u64 unused; /* the stack pointer stays a multiple of 16 */
};

_Static_assert(offsetof(struct trapframe, pc) == TF_PC, "asm.h");
_Static_assert(offsetof(struct trapframe, vector) == TF_VECTOR, "asm.h");
_Static_assert(sizeof(struct trapframe) == TF_SIZE, "asm.h");

static inline u64 frame_number(const struct trapframe *f) { return f->x[8]; }
static inline u64 frame_arg0(const struct trapframe *f) { return f->x[0]; }
static inline u64 frame_arg1(const struct trapframe *f) { return f->x[1]; }
static inline u64 frame_arg2(const struct trapframe *f) { return f->x[2]; }
static inline bool frame_is_user(const struct trapframe *f) { return !(f->pstate & PSTATE_MODE); }

#define register_read(name) ({ \
	u64 register_value; \
	asm volatile("mrs %0, " #name : "=r"(register_value) : : "memory"); \
	register_value; \
})
#define register_write(name, value) \
	asm volatile("msr " #name ", %x0" : : "rZ"((u64)(value)) : "memory")

static inline void barrier_instruction(void)
{
	asm volatile("isb" : : : "memory");
}

static inline void irq_enable(void)
{
	asm volatile("msr daifclr, #2" : : : "memory");
}

static inline void irq_disable(void)
{
	asm volatile("msr daifset, #2" : : : "memory");
}

/* irq_save disables interrupts and returns what irq_restore wants to have. */
static inline u64 irq_save(void)
{
	u64 flags = register_read(daif);

	irq_disable();
	return flags;
}

static inline void irq_restore(u64 flags)
{
	register_write(daif, flags);
}

/* wfi goes on for an interrupt that is disabled, too: it cannot be missed. */
static inline void cpu_idle(void)
{
	irq_disable();
	asm volatile("dsb sy; wfi" : : : "memory");
	irq_enable();
}

static inline noreturn void cpu_halt(void)
{
	asm volatile("msr daifset, #15" : : : "memory");
	register_write(cntv_ctl_el0, 0);
	for (;;)
		asm volatile("wfi");
}

void machine_off(void) noreturn; /* power.c */

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

/* dc zva clears a block, whose size the CPU tells. */
static inline void page_clear(void *page)
{
	u64 block = 4ul << (register_read(dczid_el0) & 15);

	for (char *p = page, *end = p + PAGE_SIZE; p < end; p += block)
		asm volatile("dc zva, %0" : : "r"(p) : "memory");
}

static inline void page_copy(void *to, const void *from)
{
	const u64 *f = from;

	for (u64 *t = to, *end = t + PAGE_SIZE / 8; t < end; t += 2, f += 2) {
		t[0] = f[0];
		t[1] = f[1];
	}
}

/* WARN: udf, found in the bug table by its address; the handler steps over it. */
#define WARN(text) \
	asm volatile("1: udf #1\n" \
		     ".pushsection .bug_table, \"a\"\n" \
		     ".balign 8\n" \
		     ".quad 1b, %0\n" \
		     ".popsection" : : "S"(text) : "memory")

/* get_user_byte reads a byte of the user's; false: bad address. */
static inline bool get_user_byte(char *value, u64 addr)
{
	u64 failed = 0, v = 0;

	asm volatile("1: ldrb %w1, [%2]\n"
		     "2:\n"
		     ".pushsection .text.fixup, \"ax\"\n"
		     "3: mov %0, #1\n"
		     "b 2b\n"
		     ".popsection\n"
		     ".pushsection .ex_table, \"a\"\n"
		     ".balign 8\n"
		     ".quad 1b, 3b\n"
		     ".popsection"
		     : "+r"(failed), "+r"(v) : "r"(addr) : "memory");
	*value = v;
	return !failed;
}
