/*
 * init.c: the first thread. It reads the user programs from the disk, gets a command
 * line, has a shell run it in user mode, hands back output and status, and powers off.
 * The line comes from `cmd=` on the kernel command line, else from the control channel,
 * else it is the default one. The line `console` stands for those that the console has.
 */
#include "machine.h"

#define ANSWER_TICKS (2 * TICK_HZ)
#define SECTOR 512
#define AT_ONCE 8 /* sectors */

static const char default_line[] = "uname; awkward; shapes; forks 3; echo done";
static char line[4096];
static bool to_channel;

extern char user_image[];

void output(char stream, const char *data, u32 n)
{
	u64 flags;

	if (to_channel) {
		channel_send(stream, data, n);
		return;
	}
	flags = irq_save();
	uart_write(CONSOLE, data, n);
	irq_restore(flags);
}

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

static void get_line(void)
{
	if (boot_option("cmd", line, sizeof line))
		return;
	if (channel_open()) {
		channel_send('R', NULL, 0);
		to_channel = channel_command(line, sizeof line, ANSWER_TICKS);
	}
	if (!to_channel) {
		klog("tiny: no command from the host, running the default one");
		strcopy(line, default_line, sizeof line);
	}
}

static u8 run(const char *line)
{
	s32 shell = process_spawn(line)->pid;
	int status = 0;

	while (process_wait(&status) != shell)
		;
	return status;
}

/* Lines up to one that says `exit`; the status is that of the last. */
static u8 run_console(void)
{
	u8 status = 0;

	console_open();
	for (;;) {
		console_line(line, sizeof line);
		if (!strcmp(line, "exit"))
			return status;
		status = run(line);
	}
}

void init_thread(void)
{
	u8 status;

	read_programs();
	get_line();
	status = strcmp(line, "console") ? run(line) : run_console();
	klog("tiny: command ended with status %d", status);
	if (to_channel)
		channel_send('S', &status, 1);
	power_off();
}
