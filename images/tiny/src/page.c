/*
 * page.c: physical memory, page by page. Pages that were given back are in a
 * list; when it is empty the next page of a range of the memory map is taken,
 * so that memory nobody needs is never touched.
 */
#include "kernel.h"

#define RANGES_MAX 16

struct free_page {
	struct free_page *next;
};

static struct range {
	u64 next, end;
} ranges[RANGES_MAX];

static u32 range_count;
static u64 total;
static struct free_page *free_pages;

void page_add(u64 start, u64 end)
{
	if (range_count == RANGES_MAX)
		return;
	ranges[range_count++] = (struct range){ start, end };
	total += (end - start) / 1024;
}

u64 page_total(void)
{
	return total;
}

static inline void *pop_free(void)
{
	struct free_page *p = free_pages;

	if (p)
		free_pages = p->next;
	return p;
}

static void *take_new(void)
{
	for (u32 i = 0; i < range_count; i++) {
		struct range *r = &ranges[i];

		if (r->next < r->end) {
			r->next += PAGE_SIZE;
			return phys_to_virt(r->next - PAGE_SIZE);
		}
	}
	return NULL;
}

void *page_alloc(void)
{
	u64 flags = irq_save();
	void *page = pop_free();

	if (!page)
		page = take_new();
	irq_restore(flags);
	if (!page)
		panic("out of memory");
	page_clear(page);
	return page;
}

void page_free(void *page)
{
	u64 flags = irq_save();
	struct free_page *p = page;

	p->next = free_pages;
	free_pages = p;
	irq_restore(flags);
}
