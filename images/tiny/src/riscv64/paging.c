/* paging.c: what is special about the page tables of riscv64. */
#include "../virt/virt.h"
#include "pte.h"

#define SATP_SV39 (8ul << 60)
#define SATP_NUMBER 0xffffffffffful
#define DIRECT_FIRST 320
#define DIRECT_COUNT 6

extern u64 boot_root[];

void paging_boot(u64 *root)
{
	memcpy(root + DIRECT_FIRST, boot_root + DIRECT_FIRST, DIRECT_COUNT * sizeof *root);
	paging_set(kernel_root);
	asm volatile("csrs sstatus, %0" : : "r"(STATUS_SUM));
}

void paging_set(u64 root)
{
	csr_write(satp, SATP_SV39 | root >> 12);
	asm volatile("sfence.vma" : : : "memory");
}

u64 paging_root(void)
{
	return (csr_read(satp) & SATP_NUMBER) << 12;
}
