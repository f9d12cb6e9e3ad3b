/* pte.h: an entry of a page table, 4 KiB granule (Arm ARM, D8.3). */
#pragma once

#include "../arch.h"

#define PAGING_LEVELS 4

#define PTE_VALID 0x1ul
#define PTE_TABLE 0x3ul /* also a page, at the last level */
#define PTE_USER 0x40ul
#define PTE_READ_ONLY 0x80ul
#define PTE_SHAREABLE 0x300ul
#define PTE_ACCESSED 0x400ul
#define PTE_NOT_GLOBAL 0x800ul
#define PTE_KERNEL_NX (1ul << 53)
#define PTE_USER_NX (1ul << 54)
#define PTE_ADDR 0x0000fffffffff000ul

#define ENTRY_SHARED (1ul << 55) /* ours: the page is not the process's own */

static inline bool entry_present(u64 e) { return e & PTE_VALID; }
static inline u64 entry_address(u64 e) { return e & PTE_ADDR; }
static inline u64 entry_table(u64 pa) { return pa | PTE_TABLE; }

/* The same entry for another page. */
static inline u64 entry_move(u64 e, u64 pa)
{
	return (e & ~PTE_ADDR) | pa;
}

/* Memory type 0 of boot.S: normal. */
static inline u64 entry_page(u64 pa, int prot)
{
	u64 e = pa | PTE_TABLE | PTE_SHAREABLE | PTE_ACCESSED;

	if (!(prot & PROT_WRITE))
		e |= PTE_READ_ONLY;
	if (prot & PROT_USER)
		e |= PTE_USER | PTE_NOT_GLOBAL | PTE_KERNEL_NX;
	else
		e |= PTE_USER_NX;
	if (!(prot & PROT_EXEC))
		e |= PTE_KERNEL_NX | PTE_USER_NX;
	return e;
}

static inline void tlb_flush_page(u64 va)
{
	u64 page = va >> 12 & 0xfffffffffff;

	asm volatile("dsb ishst; tlbi vaae1, %0; dsb ish; isb" : : "r"(page) : "memory");
}
