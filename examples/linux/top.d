/*
 * top.d: the three programs with most time on the processor, every 100 ms, in per cent:
 * trunc() throws away the others, and clear() would keep the names with a count of 0.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/top.d -c 'seq 9000 | sort -r | tail -n 1; sleep 0.1; seq 9000 | md5sum'
 */
#pragma D option quiet
#pragma D option aggsortrev

profile-1000
{
	@[execname] = count();
}

tick-100ms
{
	trunc(@, 3);
	printf("%d ms\n", ++ticks * 100);
	printa("  %-12s %@3d\n", @);
	trunc(@);
}

END
{
	trunc(@);
}
