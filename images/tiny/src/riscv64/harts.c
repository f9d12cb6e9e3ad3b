/* harts.c: another hart at work for a while; the firmware starts and stops it. */
#include "local.h"

enum { HART_START, HART_STOP };
enum { ALREADY_AVAILABLE = -6 };

extern char hart_begin[]; /* boot.S: goes on with hart_main */

static void (*work)(void);

void hart_main(void) noreturn;

void hart_main(void)
{
	paging_set(kernel_root);
	trap_init();
	work();
	sbi_call(SBI_HART, HART_STOP, 0, 0);
	cpu_halt();
}

static int count_harts(void)
{
	struct dt_node n;
	int harts = 0;

	for (u32 cursor = 0; dt_next(&cursor, &n);)
		harts += !strncmp(n.name, "cpu@", 4);
	return harts;
}

bool cpu_start(void (*fn)(void))
{
	if (count_harts() < 2)
		return false;
	work = fn;
	/* the one before may not have stopped yet */
	while (sbi_call(SBI_HART, HART_START, 1, image_to_phys(hart_begin)) == ALREADY_AVAILABLE)
		;
	return true;
}
