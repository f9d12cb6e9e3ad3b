/*
 * userstacks.d: the places in programs with most page faults. There are no symbols of
 * programs, so these are addresses.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/userstacks.d -c 'seq 20000 | sort | md5sum'
 */
#pragma D option quiet

kinst::exc_page_fault:0
/pid > 1/
{
	@[execname, ustack(1)] = count();
}

END
{
	trunc(@, 6);
}
