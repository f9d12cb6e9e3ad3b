/*
 * machine.c: what is to be done in machine mode before there is a supervisor. Addresses are
 * physical here, which those of the image are anyway.
 *
 * The ticks come in one of two ways. Where the hart has the Sstc extension the supervisor has
 * a timer of its own, stimecmp; `timer=clint` on the command line does without, as harts
 * did before: the machine's timer interrupts machine mode, which passes it on.
 */
#include "machine.h"

#define write_menvcfg(value) csr_write(0x30a, value) /* the assembler does not know its name */
#define MENVCFG_STCE (1ul << 63)

#define DELEGATED 0xb1fful /* exceptions; not calls of the supervisor or of the machine */
#define COUNTERS 7	   /* cycle, time, instret */
#define PMP_ALL 0x1f	   /* a region that is a power of two; read, write, execute */
#define PMP_ADDRESSES (~0ul >> 10)

#define CLINT_COMPARE 0x4000
#define CLINT_TIME 0xbff8

struct machine_area {
	u64 saved[3];
	volatile u64 *compare;
	u64 interval;
};

_Static_assert(offsetof(struct machine_area, compare) == AREA_COMPARE, "machine.h");
_Static_assert(offsetof(struct machine_area, interval) == AREA_INTERVAL, "machine.h");

extern void machine_trap(void);

bool clint_ticks;
static struct machine_area area;

void machine_init(u64 tree);

u64 timer_interval(void)
{
	struct dt_node n;

	for (u32 cursor = 0; dt_next(&cursor, &n);)
		if (n.frequency.size == 4)
			return dt_cell(n.frequency.data) / TICK_HZ;
	panic("the device tree has no timebase-frequency");
}

static bool wants_clint(void)
{
	struct dt_node n;
	char how[8];

	for (u32 cursor = 0; dt_next(&cursor, &n);)
		if (n.bootargs.size)
			strcopy(boot_line, n.bootargs.data, sizeof boot_line);
	return boot_option("timer", how, sizeof how) && !strcmp(how, "clint");
}

static void start_clint(void)
{
	u64 base = device_base("sifive,clint0", 0, 0);

	area.compare = (u64 *)(base + CLINT_COMPARE);
	area.interval = timer_interval();
	*area.compare = *(volatile u64 *)(base + CLINT_TIME) + area.interval;
	csr_write(mie, 1 << MACHINE_TIMER);
}

/* Called by machine.S with the address of the device tree. */
void machine_init(u64 tree)
{
	csr_write(mtvec, machine_trap);
	csr_write(mscratch, &area);
	csr_write(medeleg, DELEGATED);
	csr_write(mideleg, 1 << INTERRUPT_SOFTWARE | 1 << INTERRUPT_TIMER | 1 << INTERRUPT_EXTERNAL);
	csr_write(mcounteren, COUNTERS);
	csr_write(pmpaddr0, PMP_ADDRESSES);
	csr_write(pmpcfg0, PMP_ALL);
	dt_open(virt_to_phys((void *)tree)); /* there is no direct map yet */
	clint_ticks = wants_clint();
	if (clint_ticks)
		start_clint();
	else
		write_menvcfg(MENVCFG_STCE);
}
