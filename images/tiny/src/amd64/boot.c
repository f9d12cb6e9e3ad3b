/*
 * boot.c: what the loader tells us in struct boot_params, Linux's "zero
 * page": the command line and the memory map of the firmware (e820).
 */
#include "../kernel.h"

#define PARAMS_E820_COUNT 0x1e8
#define PARAMS_CMDLINE 0x228
#define PARAMS_E820 0x2d0
#define E820_RAM 1
#define DIRECT_LIMIT 0x100000000ul /* boot.S maps 4 GiB */

struct e820_entry {
	u64 addr, size;
	u32 type;
} __attribute__((packed));

extern char image_end[];

/* Memory below 1 MiB is left alone; then comes the kernel image. */
static void add_range(u64 start, u64 end)
{
	u64 first = page_up(image_to_phys(image_end));

	if (start < first)
		start = first;
	if (end > DIRECT_LIMIT)
		end = DIRECT_LIMIT;
	if (page_up(start) < page_down(end))
		page_add(page_up(start), page_down(end));
}

void boot_info(u64 params_phys)
{
	const char *params = phys_to_virt(params_phys);
	u32 line = *(const u32 *)(params + PARAMS_CMDLINE);
	u8 count = *(const u8 *)(params + PARAMS_E820_COUNT);
	const struct e820_entry *map = (const void *)(params + PARAMS_E820);

	if (line)
		strcopy(boot_line, phys_to_virt(line), sizeof boot_line);
	for (u8 i = 0; i < count; i++)
		if (map[i].type == E820_RAM)
			add_range(map[i].addr, map[i].addr + map[i].size);
}
