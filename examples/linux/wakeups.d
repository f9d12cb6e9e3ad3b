/*
 * wakeups.d: who wakes whom. What wakes a thread from an interrupt is shown as the thread
 * that was interrupted; swapper is the idle one.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/wakeups.d -c 'seq 3000 | sort | tail -n 1; sleep 0.1'
 */
#pragma D option quiet

kinst::try_to_wake_up:0
{
	@[execname, stringof(((struct task_struct *)arg0)->comm)] = count();
}

END
{
	printf("%-12s %-12s %6s\n", "BY", "WOKEN", "TIMES");
	printa("%-12s %-12s %@6d\n", @);
}
