/* start.c: what the device tree says about memory and the command line. */
#include "virt.h"

extern char image_end[];

static u64 tree_start;

void kmain(u64 arg) noreturn;

void start(u64 tree)
{
	tree_start = tree;
	dt_open(tree);
	kmain(tree);
}

/* Not what lies before the end of our image, nor the tree itself. */
static void add_range(u64 from, u64 to)
{
	u64 first = page_up(image_to_phys(image_end));
	u64 hole = page_down(tree_start), hole_end = page_up(tree_start + dt_size());

	from = page_up(from < first ? first : from);
	to = page_down(min(to, DIRECT_LIMIT));
	if (hole < to && hole_end > from) {
		if (from < hole)
			page_add(from, hole);
		from = hole_end;
	}
	if (from < to)
		page_add(from, to);
}

void boot_info(u64 tree)
{
	struct dt_node n;

	(void)tree;
	for (u32 cursor = 0; dt_next(&cursor, &n);) {
		const char *reg = n.reg.data;

		if (n.bootargs.size)
			strcopy(boot_line, n.bootargs.data, sizeof boot_line);
		if (strncmp(n.name, "memory@", 7))
			continue;
		for (u32 i = 0; i + 16 <= n.reg.size; i += 16)
			add_range(dt_address(reg + i), dt_address(reg + i) + dt_address(reg + i + 8));
	}
}
