/*
 * timers.d: the functions that the kernel's timers call, and how late, in jiffies at most.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/timers.d -c 'sleep 2'
 */
#pragma D option quiet

kinst::call_timer_fn:0
{
	this->timer = (struct timer_list *)arg0;
	@calls[func(arg1)] = count();
	@late[func(arg1)] = max(`jiffies - this->timer->expires);
}

END
{
	printa("%-40a %@4d %@4d\n", @calls, @late);
}
