/*
 * workqueue.d: what the kernel's workers do for others: the functions that they call, and
 * how long these take altogether, in microseconds.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/workqueue.d -c 'sleep 3'
 */
#pragma D option quiet

kinst::process_one_work:0
{
	self->function = (uint64_t)((struct work_struct *)arg1)->func;
	@[execname, func(self->function)] = count();
}

END
{
	printa("%-12s %-36a %@4d\n", @);
}
