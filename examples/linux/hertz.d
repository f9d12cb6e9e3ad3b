/*
 * hertz.d: the rate of the timer interrupt, and whether it found a program or the kernel.
 * normalize() makes a rate of the count: so many per second, over four seconds.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/hertz.d -c 'while true; do :; done'
 */
#pragma D option quiet

kinst::update_process_times:0
{
	@[arg0 ? "program" : "kernel"] = count();
	@["all"] = count();
}

tick-4s
{
	normalize(@, 4);
	printa("%-8s %@6d per second\n", @);
	exit(0);
}
