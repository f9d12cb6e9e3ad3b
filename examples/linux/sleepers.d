/*
 * sleepers.d: how long programs wanted to sleep, and how much longer it was. Without a
 * fine timer the kernel wakes them at its ticks, every 4 ms.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/sleepers.d -c 'sleep 0.01; usleep 100; sleep 0.333; sleep 1'
 */
#pragma D option quiet

kinst::hrtimer_nanosleep:0
{
	self->want = arg0;
	self->since = timestamp;
}

kinst::syscall_exit_to_user_mode:0
/self->want/
{
	printf("%-8s wanted %7d us, %5d more\n", execname, self->want / 1000,
	    (timestamp - self->since - self->want) / 1000);
	self->want = 0;
}
