/*
 * softirqs.d: what the kernel puts off until after an interrupt, and whom it then keeps
 * from running. The one that balances CPUs has another name since Linux 6.10.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/softirqs.d -c 'seq 20000 | sort | md5sum; sleep 0.2'
 */
#pragma D option quiet
#pragma D option zdefs

kinst::run_timer_softirq:0, kinst::tasklet_action:0, kinst::tasklet_hi_action:0,
kinst::run_rebalance_domains:0, kinst::sched_balance_softirq:0, kinst::rcu_core_si:0, kinst::net_rx_action:0,
kinst::blk_done_softirq:0, kinst::hrtimer_run_softirq:0
{
	@[probefunc, execname] = count();
}

END
{
	printa("%-20s %-12s %@6d\n", @);
}
