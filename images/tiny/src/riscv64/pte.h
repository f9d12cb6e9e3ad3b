/* pte.h: an entry of a page table, Sv39 (privileged specification, 4.4). */
#pragma once

#include "../arch.h"

#define PAGING_LEVELS 3

#define PTE_VALID 0x01ul
#define PTE_READ 0x02ul
#define PTE_WRITE 0x04ul
#define PTE_EXEC 0x08ul
#define PTE_USER 0x10ul
#define PTE_GLOBAL 0x20ul
#define PTE_USED 0xc0ul /* accessed and dirty: the CPU need not write it */
#define PTE_NUMBER 0x003ffffffffffc00ul

#define ENTRY_SHARED 0x100ul /* ours: the page is not the process's own */

static inline bool entry_present(u64 e) { return e & PTE_VALID; }
static inline u64 entry_address(u64 e) { return (e & PTE_NUMBER) << 2; }
static inline u64 entry_table(u64 pa) { return pa >> 2 | PTE_VALID; }

/* The same entry for another page. */
static inline u64 entry_move(u64 e, u64 pa)
{
	return (e & ~PTE_NUMBER) | pa >> 2;
}

static inline u64 entry_page(u64 pa, int prot)
{
	u64 e = pa >> 2 | PTE_VALID | PTE_READ | PTE_USED;

	if (prot & PROT_WRITE)
		e |= PTE_WRITE;
	if (prot & PROT_EXEC)
		e |= PTE_EXEC;
	return e | (prot & PROT_USER ? PTE_USER : PTE_GLOBAL);
}

static inline void tlb_flush_page(u64 va)
{
	asm volatile("sfence.vma %0, zero" : : "r"(va) : "memory");
}
