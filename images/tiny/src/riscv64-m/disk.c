/*
 * disk.c: a virtio block device with registers in memory (Virtio 1.2, 4.2 and 5.2), read
 * from by one request at a time. The request is three descriptors: header, data, result.
 */
#include "machine.h"

enum { /* registers, in words */
	MAGIC = 0x00, VERSION = 0x01, DEVICE = 0x02, FEATURES_SELECT = 0x05, DRIVER = 0x08,
	DRIVER_SELECT = 0x09, QUEUE_SELECT = 0x0c, QUEUE_MAX = 0x0d, QUEUE_SIZE = 0x0e, QUEUE_READY = 0x11,
	NOTIFY = 0x14, INTERRUPT = 0x18, ACKNOWLEDGE = 0x19, STATUS = 0x1c,
	TABLE = 0x20, AVAILABLE = 0x24, USED = 0x28,
};

enum { ACKNOWLEDGED = 1, DRIVER_THERE = 2, DRIVER_OK = 4, FEATURES_OK = 8 };

#define IS_MAGIC 0x74726976
#define IS_MODERN 2
#define IS_BLOCK 2
#define VERSION_1 1 /* in the second word of features */
#define READ 0
#define SECTOR 512

#define FIRST_INPUT 1 /* of the PLIC; the devices follow one another */
#define QUEUE 4

enum { NEXT = 1, WRITE = 2 }; /* flags of a descriptor */

struct descriptor {
	u64 address;
	u32 size;
	u16 flags, next;
};

static struct descriptor table[QUEUE] __attribute__((aligned(16)));
static struct {
	u16 flags, index, ring[QUEUE];
} available;
static volatile struct {
	u16 flags, index;
	struct {
		u32 id, size;
	} ring[QUEUE];
} used __attribute__((aligned(4)));
static struct {
	u32 type, reserved;
	u64 sector;
} header;
static volatile u8 result;

static volatile u32 *regs;
static struct wait_queue waiting;

static void disk_interrupt(void)
{
	regs[ACKNOWLEDGE] = regs[INTERRUPT];
	wake_all(&waiting);
}

/* The first of the devices on the bus that is a disk: its number, or -1. */
static int find_disk(void)
{
	for (int i = 0;; i++) {
		u64 base = device_base("virtio,mmio", i, 0);

		if (!base)
			return -1;
		regs = phys_to_virt(base);
		if (regs[MAGIC] == IS_MAGIC && regs[VERSION] == IS_MODERN && regs[DEVICE] == IS_BLOCK)
			return i;
	}
}

static void set_address(int reg, const volatile void *ring)
{
	u64 pa = image_to_phys((const void *)ring);

	regs[reg] = pa;
	regs[reg + 1] = pa >> 32;
}

bool disk_open(void)
{
	int number = find_disk();

	if (number < 0)
		return false;
	list_init(&waiting.threads);
	regs[STATUS] = 0;
	regs[STATUS] = ACKNOWLEDGED | DRIVER_THERE;
	regs[DRIVER_SELECT] = 1;
	regs[DRIVER] = VERSION_1;
	regs[DRIVER_SELECT] = 0;
	regs[DRIVER] = 0;
	regs[STATUS] = ACKNOWLEDGED | DRIVER_THERE | FEATURES_OK;
	regs[QUEUE_SELECT] = 0;
	if (!(regs[STATUS] & FEATURES_OK) || regs[QUEUE_MAX] < QUEUE)
		return false;
	regs[QUEUE_SIZE] = QUEUE;
	set_address(TABLE, table);
	set_address(AVAILABLE, &available);
	set_address(USED, &used);
	regs[QUEUE_READY] = 1;
	plic_open(FIRST_INPUT + number, disk_interrupt);
	regs[STATUS] = ACKNOWLEDGED | DRIVER_THERE | FEATURES_OK | DRIVER_OK;
	return true;
}

static void describe(int i, const volatile void *data, u32 size, u16 flags)
{
	table[i] = (struct descriptor){ image_to_phys((const void *)data), size, flags, i + 1 };
}

bool disk_read(u64 sector, void *to, u32 count)
{
	u16 before = used.index;
	u64 flags;

	header.type = READ;
	header.sector = sector;
	result = 0xff;
	describe(0, &header, sizeof header, NEXT);
	describe(1, to, count * SECTOR, NEXT | WRITE);
	describe(2, &result, sizeof result, WRITE);
	available.ring[available.index % QUEUE] = 0;
	asm volatile("fence" : : : "memory");
	available.index++;
	asm volatile("fence" : : : "memory");
	flags = irq_save();
	regs[NOTIFY] = 0;
	while (used.index == before)
		wait_on(&waiting);
	irq_restore(flags);
	asm volatile("fence" : : : "memory");
	return result == 0;
}
