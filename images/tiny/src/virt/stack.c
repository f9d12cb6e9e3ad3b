/*
 * stack.c: kernel stacks. Each slot of 32 KiB has 16 KiB of stack at its top
 * and nothing below: an overflow faults instead of damaging a neighbour.
 */
#include "virt.h"

#define SLOT_SIZE 0x8000ul
#define STACK_PAGES 4

static void *pages[THREADS_MAX][STACK_PAGES];

static u64 top_of(int slot)
{
	return STACKS_BASE + (slot + 1) * SLOT_SIZE;
}

/* The pages of a slot are kept when it is freed: the next thread has them. */
u64 stack_new(int slot)
{
	u64 bottom = top_of(slot) - STACK_PAGES * PAGE_SIZE;

	for (int i = 0; i < STACK_PAGES && !pages[slot][i]; i++) {
		pages[slot][i] = page_alloc();
		paging_map(kernel_root, bottom + i * PAGE_SIZE,
			   virt_to_phys(pages[slot][i]), PROT_WRITE);
	}
	return top_of(slot);
}
