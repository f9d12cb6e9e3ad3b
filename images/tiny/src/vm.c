/*
 * vm.c: the user half of an address space. Nothing is mapped before it is
 * touched: the page fault decides by the address what the page is.
 *
 *	USER_BASE        text_end        data_end      bss_end     brk        USER_STACK_TOP
 *	| text, shared   | data, a copy  | zero        | heap: zero | ...  stack: zero |
 */
#include "kernel.h"

extern char user_image[];

static inline const struct user_header *header(void)
{
	return (const struct user_header *)user_image;
}

u64 vm_entry(void)
{
	return header()->entry;
}

u64 vm_heap(void)
{
	return page_up(header()->bss_end);
}

static inline bool within(u64 addr, u64 start, u64 end)
{
	return addr >= start && addr < end;
}

static void map_text(struct process *p, u64 page)
{
	paging_share(p->root, page, image_to_phys(user_image + (page - USER_BASE)),
		     PROT_EXEC | PROT_USER);
}

/* A page with data in its first bytes, the rest zero. */
static void map_data(struct process *p, u64 page)
{
	void *new = page_alloc();
	u64 end = header()->data_end;

	if (page < end)
		memcpy(new, user_image + (page - USER_BASE), min(end - page, PAGE_SIZE));
	paging_map(p->root, page, virt_to_phys(new), PROT_WRITE | PROT_USER);
}

/* vm_fault brings in the page of addr; false if there is none to bring in. */
bool vm_fault(struct process *p, u64 addr, bool write)
{
	u64 page = page_down(addr);

	if (p == &kernel_process)
		return false;
	if (within(addr, USER_BASE, header()->text_end)) {
		if (write)
			return false;
		map_text(p, page);
		return true;
	}
	if (within(addr, header()->text_end, p->brk) ||
	    within(addr, USER_STACK_TOP - USER_STACK_SIZE, USER_STACK_TOP)) {
		map_data(p, page);
		return true;
	}
	return false;
}

/* vm_poke writes to another process, page by page. */
void vm_poke(struct process *p, u64 addr, const void *data, u64 n)
{
	while (n > 0) {
		u64 part = min(n, page_down(addr) + PAGE_SIZE - addr);
		char *page = paging_lookup(p->root, addr);

		if (!page) {
			vm_fault(p, addr, true);
			continue;
		}
		memcpy(page + addr % PAGE_SIZE, data, part);
		addr += part;
		data = (const char *)data + part;
		n -= part;
	}
}

bool user_range(u64 addr, u64 n)
{
	return addr < USER_STACK_TOP && n <= USER_STACK_TOP - addr;
}

bool copy_from_user(void *to, u64 from, u64 n)
{
	return user_range(from, n) && copy_user(to, (const void *)from, n) == 0;
}

bool copy_to_user(u64 to, const void *from, u64 n)
{
	return user_range(to, n) && copy_user((void *)to, from, n) == 0;
}

bool string_from_user(char *to, u64 from, u64 size)
{
	for (u64 i = 0; i < size; i++) {
		if (!user_range(from + i, 1) || !get_user_byte(&to[i], from + i))
			return false;
		if (!to[i])
			return true;
	}
	to[size - 1] = 0;
	return true;
}
