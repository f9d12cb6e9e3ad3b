/*
 * log.c: the kernel log. A line is `[    s.uuuuuu] text`, its time taken from
 * the timer ticks: the only clock that is the same on every machine.
 */
#include "kernel.h"

static void write_line(const char *fmt, va_list args)
{
	char line[256];
	int n;
	u64 flags;

	n = print_to(line, sizeof line, "[%5lu.%06lu] ", ticks / TICK_HZ,
		     ticks % TICK_HZ * (1000000 / TICK_HZ));
	n += format(line + n, sizeof line - n - 1, fmt, args);
	n = min(n, sizeof line - 2);
	line[n++] = '\n';
	flags = irq_save();
	uart_write(CONSOLE, line, n);
	irq_restore(flags);
}

void klog(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	write_line(fmt, args);
	va_end(args);
}

static void backtrace(u64 frame)
{
	for (; frame; frame = frame_outer(frame))
		klog("tiny:   called from 0x%lx", frame_return(frame));
}

bool panicking;

void panic(const char *fmt, ...)
{
	char text[200];
	va_list args;

	irq_disable();
	panicking = true;
	va_start(args, fmt);
	format(text, sizeof text, fmt, args);
	va_end(args);
	klog("tiny: panic: %s", text);
	if (current)
		klog("tiny:   in pid %d (%s)", current->pid, current->name);
	backtrace(frame_pointer());
	cpu_halt();
}

void power_off(void)
{
	char how[16];

	if (boot_option("poweroff", how, sizeof how) && !strcmp(how, "reboot")) {
		klog("System halted, rebooting instead");
		arch_reboot();
	}
	klog("System halted");
	machine_off();
}
