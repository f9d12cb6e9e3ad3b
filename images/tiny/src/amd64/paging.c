/*
 * paging.c: page tables of four levels. The upper half of every table is the
 * same: the direct map, the kernel stacks and the kernel image. The lower
 * half belongs to a process.
 */
#include "../kernel.h"

#define PTE_PRESENT 0x1ul
#define PTE_WRITE 0x2ul
#define PTE_USER 0x4ul
#define PTE_GLOBAL 0x100ul
#define PTE_SHARED 0x200ul /* ours: the page is not the process's own */
#define PTE_NX (1ul << 63)
#define PTE_ADDR 0x000ffffffffff000ul

#define ENTRIES 512
#define KERNEL_HALF 256

#define MSR_EFER 0xc0000080
#define EFER_SYSCALL 0x1ul
#define EFER_NX 0x800ul
#define CR0_WP 0x10000ul
#define CR4_GLOBAL 0x80ul

extern u64 boot_pml4[];
extern char text_start[], text_end[], rodata_end[], image_end[];

u64 kernel_root;

static inline u64 *table_at(u64 entry)
{
	return phys_to_virt(entry & PTE_ADDR);
}

static inline int index_of(u64 va, int level)
{
	return va >> (12 + 9 * level) & (ENTRIES - 1);
}

/* The entry that maps va, or NULL where a table is missing and !make. */
static u64 *walk(u64 root, u64 va, bool make)
{
	u64 *table = phys_to_virt(root);

	for (int level = 3; level > 0; level--) {
		u64 *entry = &table[index_of(va, level)];

		if (!(*entry & PTE_PRESENT)) {
			if (!make)
				return NULL;
			*entry = virt_to_phys(page_alloc()) | PTE_PRESENT | PTE_WRITE | PTE_USER;
		}
		table = table_at(*entry);
	}
	return &table[index_of(va, 0)];
}

static inline u64 bits_of(int prot)
{
	u64 bits = PTE_PRESENT;

	if (prot & PROT_WRITE)
		bits |= PTE_WRITE;
	if (!(prot & PROT_EXEC))
		bits |= PTE_NX;
	bits |= prot & PROT_USER ? PTE_USER : PTE_GLOBAL;
	return bits;
}

static void map(u64 root, u64 va, u64 pa, u64 bits)
{
	*walk(root, va, true) = pa | bits;
	asm volatile("invlpg (%0)" : : "r"(va) : "memory");
}

void paging_map(u64 root, u64 va, u64 pa, int prot)
{
	map(root, va, pa, bits_of(prot));
}

void paging_share(u64 root, u64 va, u64 pa, int prot)
{
	map(root, va, pa, bits_of(prot) | PTE_SHARED);
}

void *paging_lookup(u64 root, u64 va)
{
	u64 *entry = walk(root, va, false);

	return entry && *entry & PTE_PRESENT ? table_at(*entry) : NULL;
}

u64 paging_new(void)
{
	u64 *root = page_alloc();
	u64 *kernel = phys_to_virt(kernel_root);

	memcpy(root + KERNEL_HALF, kernel + KERNEL_HALF, PAGE_SIZE / 2);
	return virt_to_phys(root);
}

static void free_table(u64 *table, int level, int entries)
{
	for (int i = 0; i < entries; i++) {
		if (!(table[i] & PTE_PRESENT))
			continue;
		if (level > 0)
			free_table(table_at(table[i]), level - 1, ENTRIES);
		else if (!(table[i] & PTE_SHARED))
			page_free(table_at(table[i]));
	}
	page_free(table);
}

void paging_free(u64 root)
{
	free_table(phys_to_virt(root), 3, KERNEL_HALF);
}

static void copy_page(u64 to_root, u64 va, u64 entry)
{
	void *page;

	if (entry & PTE_SHARED) {
		*walk(to_root, va, true) = entry;
		return;
	}
	page = page_alloc();
	page_copy(page, table_at(entry));
	*walk(to_root, va, true) = virt_to_phys(page) | (entry & ~PTE_ADDR);
}

static void copy_table(u64 to_root, u64 *table, int level, u64 va, int entries)
{
	for (int i = 0; i < entries; i++, va += 1ul << (12 + 9 * level)) {
		if (!(table[i] & PTE_PRESENT))
			continue;
		if (level > 0)
			copy_table(to_root, table_at(table[i]), level - 1, va, ENTRIES);
		else
			copy_page(to_root, va, table[i]);
	}
}

void paging_copy(u64 to, u64 from)
{
	copy_table(to, phys_to_virt(from), 3, 0, KERNEL_HALF);
}

static void map_image(char *start, char *end, int prot)
{
	for (char *p = start; p < end; p += PAGE_SIZE)
		paging_map(kernel_root, (u64)p, image_to_phys(p), prot);
}

static inline void set_cr3(u64 root)
{
	asm volatile("mov %0, %%cr3" : : "r"(root) : "memory");
}

/* No page is both writable and executable from here on. */
void paging_init(void)
{
	u64 cr;

	write_msr(MSR_EFER, read_msr(MSR_EFER) | EFER_SYSCALL | EFER_NX);
	kernel_root = virt_to_phys(page_alloc());
	u64 *root = phys_to_virt(kernel_root);
	root[index_of(DIRECT_BASE, 3)] = boot_pml4[index_of(DIRECT_BASE, 3)] | PTE_NX;
	/* made now, so that every process shares it */
	walk(kernel_root, STACKS_BASE, true);
	map_image(text_start, text_end, PROT_EXEC);
	map_image(text_end, rodata_end, 0);
	map_image(rodata_end, image_end, PROT_WRITE);
	set_cr3(kernel_root);

	asm volatile("mov %%cr0, %0" : "=r"(cr));
	asm volatile("mov %0, %%cr0" : : "r"(cr | CR0_WP));
	asm volatile("mov %%cr4, %0" : "=r"(cr));
	asm volatile("mov %0, %%cr4" : : "r"(cr | CR4_GLOBAL));
}
