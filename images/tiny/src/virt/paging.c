/*
 * paging.c: page tables of PAGING_LEVELS levels. The upper half of every root is
 * the same: the direct map, the kernel stacks and the kernel image. The lower
 * half belongs to a process.
 */
#include "pte.h"
#include "virt.h"

#define ENTRIES 512
#define KERNEL_HALF KERNEL_FIRST

extern char text_start[], text_end[], rodata_end[], image_end[];

u64 kernel_root;

static inline u64 *table_at(u64 entry)
{
	return phys_to_virt(entry_address(entry));
}

static inline int index_of(u64 va, int level)
{
	return va >> (12 + 9 * level) & (ENTRIES - 1);
}

/* The entry that maps va, or NULL where a table is missing and !make. */
static u64 *walk(u64 root, u64 va, bool make)
{
	u64 *table = phys_to_virt(root);

	for (int level = PAGING_LEVELS - 1; level > 0; level--) {
		u64 *entry = &table[index_of(va, level)];

		if (!entry_present(*entry)) {
			if (!make)
				return NULL;
			*entry = entry_table(virt_to_phys(page_alloc()));
		}
		table = table_at(*entry);
	}
	return &table[index_of(va, 0)];
}

static void map(u64 root, u64 va, u64 entry)
{
	*walk(root, va, true) = entry;
	tlb_flush_page(va);
}

void paging_map(u64 root, u64 va, u64 pa, int prot)
{
	map(root, va, entry_page(pa, prot));
}

void paging_share(u64 root, u64 va, u64 pa, int prot)
{
	map(root, va, entry_page(pa, prot) | ENTRY_SHARED);
}

void *paging_lookup(u64 root, u64 va)
{
	u64 *entry = walk(root, va, false);

	return entry && entry_present(*entry) ? table_at(*entry) : NULL;
}

u64 paging_new(void)
{
	u64 *root = page_alloc();
	u64 *kernel = phys_to_virt(kernel_root);

	memcpy(root + KERNEL_HALF, kernel + KERNEL_HALF, PAGE_SIZE - KERNEL_HALF * sizeof *root);
	return virt_to_phys(root);
}

static void free_table(u64 *table, int level, int entries)
{
	for (int i = 0; i < entries; i++) {
		if (!entry_present(table[i]))
			continue;
		if (level > 0)
			free_table(table_at(table[i]), level - 1, ENTRIES);
		else if (!(table[i] & ENTRY_SHARED))
			page_free(table_at(table[i]));
	}
	page_free(table);
}

void paging_free(u64 root)
{
	free_table(phys_to_virt(root), PAGING_LEVELS - 1, KERNEL_HALF);
}

static void copy_page(u64 to_root, u64 va, u64 entry)
{
	void *page;

	if (entry & ENTRY_SHARED) {
		*walk(to_root, va, true) = entry;
		return;
	}
	page = page_alloc();
	page_copy(page, table_at(entry));
	*walk(to_root, va, true) = entry_move(entry, virt_to_phys(page));
}

static void copy_table(u64 to_root, u64 *table, int level, u64 va, int entries)
{
	for (int i = 0; i < entries; i++, va += 1ul << (12 + 9 * level)) {
		if (!entry_present(table[i]))
			continue;
		if (level > 0)
			copy_table(to_root, table_at(table[i]), level - 1, va, ENTRIES);
		else
			copy_page(to_root, va, table[i]);
	}
}

void paging_copy(u64 to, u64 from)
{
	copy_table(to, phys_to_virt(from), PAGING_LEVELS - 1, 0, KERNEL_HALF);
}

static void map_image(char *start, char *end, int prot)
{
	for (char *p = start; p < end; p += PAGE_SIZE)
		paging_map(kernel_root, (u64)p, image_to_phys(p), prot);
}

/* No page is both writable and executable from here on. */
void paging_init(void)
{
	kernel_root = virt_to_phys(page_alloc());
	/* made now, so that every process shares it */
	walk(kernel_root, STACKS_BASE, true);
	map_image(text_start, text_end, PROT_EXEC);
	map_image(text_end, rodata_end, 0);
	map_image(rodata_end, image_end, PROT_WRITE);
	paging_boot(phys_to_virt(kernel_root));
}
