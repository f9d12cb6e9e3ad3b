/*
 * clock.d: the kernel's own clock against that of the guest: variables of the kernel are
 * named with a backquote. jiffies begins five minutes before it overflows 32 bits.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/clock.d -c 'sleep 2; date -u +%T'
 */
#pragma D option quiet

BEGIN
{
	jiffies = `jiffies;
	start = timestamp;
}

tick-500ms
{
	printf("%Y %4d ms %4d jiffies, processes %d, last pid %d\n", walltimestamp,
	    (timestamp - start) / 1000000, `jiffies - jiffies, `nr_threads, `init_pid_ns.idr.idr_next - 1);
}
