/* main.c: the order in which the kernel starts. */
#include "kernel.h"

const char tiny_banner[] = "tiny kernel 1.0 (" ARCH ")";
char boot_line[1024];

static const char *skip_value(const char *p)
{
	bool quoted = false;

	for (; *p && (quoted || *p != ' '); p++)
		if (*p == '"')
			quoted = !quoted;
	return p;
}

static void copy_value(char *to, const char *from, const char *end, size_t size)
{
	size_t n = 0;

	for (; from < end; from++)
		if (*from != '"' && n + 1 < size)
			to[n++] = *from;
	to[n] = 0;
}

/* The quotes may stand around the value or around the whole word. */
bool boot_option(const char *name, char *value, size_t size)
{
	size_t n = strlen(name);
	const char *p = boot_line, *end;

	for (; *p; p = end) {
		while (*p == ' ')
			p++;
		end = skip_value(p);
		if (*p == '"')
			p++;
		if (!strncmp(p, name, n) && p[n] == '=') {
			copy_value(value, p + n + 1, end, size);
			return true;
		}
	}
	return false;
}

/* Called by boot.S on the boot stack, which becomes that of the idle thread. */
void kmain(u64 arg)
{
	uart_init(CONSOLE);
	boot_info(arg);
	klog("%s", tiny_banner);
	klog("command line: %s", boot_line);
	klog("memory: %lu KiB free", page_total());
	paging_init();
	kernel_process.root = kernel_root;
	trap_init();
	sched_init();
	timer_init();
	for (;;)
		cpu_idle();
}
