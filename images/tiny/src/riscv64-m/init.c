/*
 * init.c: the first thread. It reads the user programs from the disk, has a shell run the
 * command line in user mode, and powers off. The line `console` stands for those that the
 * console has.
 */
#include "machine.h"

#define SECTOR 512
#define AT_ONCE 8 /* sectors */

extern char user_image[];

static void read_some(u32 at)
{
	if (!disk_read(at / SECTOR, user_image + at, AT_ONCE))
		panic("cannot read sector %u of the disk", at / SECTOR);
}

/* The image says itself where its data ends; the disk has whole pages. */
static void read_programs(void)
{
	const struct user_header *h = (const struct user_header *)user_image;
	u32 at = 0;

	if (!disk_open())
		panic("there is no disk");
	do {
		read_some(at);
		at += AT_ONCE * SECTOR;
		if (h->magic != USER_MAGIC || h->data_end - USER_BASE > USER_IMAGE_MAX)
			panic("there are no programs of mine on the disk");
	} while (at < h->data_end - USER_BASE);
	asm volatile("fence.i" : : : "memory");
	klog("tiny: %u bytes of programs read from the disk", at);
}

/* Lines up to one that says `exit`; the status is that of the last. */
static u8 run_console(void)
{
	u8 status = 0;

	console_open();
	for (;;) {
		console_line(command, sizeof command);
		if (!strcmp(command, "exit"))
			return status;
		status = command_run(command);
	}
}

void init_thread(void)
{
	read_programs();
	command_get();
	command_end(strcmp(command, "console") ? command_run(command) : run_console());
}
