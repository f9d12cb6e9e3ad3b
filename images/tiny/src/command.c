/*
 * command.c: the command line that the first thread has a shell run, and what comes of it.
 * The line comes from `cmd=` on the kernel command line, else from the control channel,
 * else it is the default one; only with the channel do output and status go there.
 */
#include "kernel.h"

#define ANSWER_TICKS (2 * TICK_HZ)

static const char default_line[] = "uname; awkward; shapes; forks 3; echo done";
char command[4096];
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

void command_get(void)
{
	if (boot_option("cmd", command, sizeof command))
		return;
	if (channel_open()) {
		channel_send('R', NULL, 0);
		to_channel = channel_command(command, sizeof command, ANSWER_TICKS);
	}
	if (!to_channel) {
		klog("tiny: no command from the host, running the default one");
		strcopy(command, default_line, sizeof command);
	}
}

u8 command_run(const char *line)
{
	s32 shell = process_spawn(line)->pid;
	int status = 0;

	while (process_wait(&status) != shell)
		;
	return status;
}

void command_end(u8 status)
{
	klog("tiny: command ended with status %d", status);
	if (to_channel)
		channel_send('S', &status, 1);
	power_off();
}
