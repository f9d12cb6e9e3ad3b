/*
 * init.c: the first thread. It gets a command line, has a shell run it in
 * user mode, hands back output and status, and powers off. The line comes
 * from `cmd=` on the kernel command line, else from the control channel, else
 * it is the default one; only with the channel does output go there.
 */
#include "kernel.h"

#define ANSWER_TICKS (2 * TICK_HZ)

static const char default_line[] = "uname; awkward; shapes; forks 3; echo done";
static char line[4096];
static bool to_channel;

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

void init_thread(void)
{
	u8 status;

	get_line();
	status = run(line);
	klog("tiny: command ended with status %d", status);
	if (to_channel)
		channel_send('S', &status, 1);
	power_off();
}
