/*
 * rates.d: a line for every 200 ms: what vmstat(8) prints, of the guest's own time. The
 * counts are printed side by side, and begin anew.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/rates.d -c 'sleep 0.3; for i in 1 2 3 4 5 6; do seq 3000 | sort > /dev/null; done; sleep 0.3'
 */
#pragma D option quiet

BEGIN
{
	printf("%8s %8s %8s %8s %8s\n", "CALLS", "SWITCHES", "FAULTS", "FORKS", "TICKS");
	@calls = sum(0); @switches = sum(0); @faults = sum(0); @forks = sum(0); @ticks = sum(0);
}

kinst::do_syscall_64:0		{ @calls = sum(1); }
kinst::__switch_to:0		{ @switches = sum(1); }
kinst::handle_mm_fault:0	{ @faults = sum(1); }
kinst::kernel_clone:0		{ @forks = sum(1); }
kinst::update_process_times:0	{ @ticks = sum(1); }

tick-200ms
{
	printa("%@8d %@8d %@8d %@8d %@8d\n", @calls, @switches, @faults, @forks, @ticks);
	clear(@calls); clear(@switches); clear(@faults); clear(@forks); clear(@ticks);
}

END
{
	trunc(@calls); trunc(@switches); trunc(@faults); trunc(@forks); trunc(@ticks);
}
