// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/helloworld: a driver with static probes.
 *
 *	sdt:helloworld:hello_init:load
 *	sdt:helloworld:hello_read:read-start	bytes asked for, name of the reader
 *	sdt:helloworld:hello_read:read-done	bytes given, the text
 *	sdt:helloworld:hello_exit:unload	reads so far
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>

#include "dtrace_probe.h"

static const char text[] = "Hello, world!\n";
static unsigned long reads;

static __always_inline size_t hello_left(loff_t pos)
{
	return pos < sizeof(text) - 1 ? sizeof(text) - 1 - pos : 0;
}

static ssize_t hello_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	ssize_t n;

	DTRACE_PROBE(read__start, count, current->comm);
	if (!hello_left(*pos)) {
		DTRACE_PROBE(read__done, 0, text);
		return 0;
	}
	reads++;
	n = simple_read_from_buffer(buf, count, pos, text, sizeof(text) - 1);
	DTRACE_PROBE(read__done, n, text);
	return n;
}

static const struct proc_ops hello_ops = {
	.proc_read = hello_read,
};

static int __init hello_init(void)
{
	DTRACE_PROBE(load, reads, THIS_MODULE->name);
	return proc_create("helloworld", 0444, NULL, &hello_ops) ? 0 : -ENOMEM;
}

static void __exit hello_exit(void)
{
	remove_proc_entry("helloworld", NULL);
	DTRACE_PROBE(unload, reads, THIS_MODULE->name);
}

module_init(hello_init);
module_exit(hello_exit);
MODULE_DESCRIPTION("says hello in /proc, with static probes");
MODULE_LICENSE("GPL");
