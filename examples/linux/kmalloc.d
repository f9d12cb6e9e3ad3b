/*
 * kmalloc.d: how much the kernel allocates on behalf of each program: number, sum, mean
 * and the extremes, five aggregations printed side by side. The function has the second name since
 * Linux 6.10.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/kmalloc.d -c 'ls /proc | wc -l; mount -t tmpfs t /mnt; ip link set lo up'
 */
#pragma D option quiet
#pragma D option zdefs

kinst::__kmalloc:0, kinst::__kmalloc_noprof:0
/pid > 1/
{
	@number[execname] = count();
	@bytes[execname] = sum(arg0);
	@mean[execname] = avg(arg0);
	@least[execname] = min(arg0);
	@most[execname] = max(arg0);
}

END
{
	printf("%-10s %8s %8s %8s %8s %8s\n", "PROGRAM", "NUMBER", "BYTES", "MEAN", "LEAST", "MOST");
	printa("%-10s %@8d %@8d %@8d %@8d %@8d\n", @number, @bytes, @mean, @least, @most);
}
