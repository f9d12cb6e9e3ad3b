/* paging.c: what is special about the page tables of arm64. */
#include "../virt/virt.h"
#include "pte.h"

#define DIRECT_INDEX 273

extern u64 boot_root[];

/* The upper half has a root register of its own, which never changes again. */
void paging_boot(u64 *root)
{
	root[DIRECT_INDEX] = boot_root[DIRECT_INDEX];
	asm volatile("dsb ishst");
	register_write(ttbr1_el1, kernel_root);
	register_write(ttbr0_el1, kernel_root);
	asm volatile("isb; tlbi vmalle1; dsb nsh; isb" : : : "memory");
}

void paging_set(u64 root)
{
	register_write(ttbr0_el1, root);
	asm volatile("isb; tlbi aside1, xzr; dsb nsh; isb" : : : "memory");
}

u64 paging_root(void)
{
	return register_read(ttbr0_el1);
}
