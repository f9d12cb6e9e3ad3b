/*
 * locks.d: the functions that take spin locks most often, by kind of lock.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/locks.d -c 'seq 3000 | sort | md5sum'
 */
#pragma D option quiet

kinst::_raw_spin_lock:0, kinst::_raw_spin_lock_irq:0, kinst::_raw_spin_lock_irqsave:0
/pid > 1/
{
	@[probefunc, func(caller)] = count();
}

END
{
	trunc(@, 12);
	printa("%-22s %-40a %@6d\n", @);
}
