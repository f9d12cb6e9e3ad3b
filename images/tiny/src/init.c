/*
 * init.c: the first thread. It has a shell run the command line in user mode, and powers
 * off.
 */
#include "kernel.h"

void init_thread(void)
{
	command_get();
	command_end(command_run(command));
}
