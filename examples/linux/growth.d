/*
 * growth.d: how the memory of programs grows: the mean, the deviation and the most of
 * their pages, looked at 250 times per second.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/growth.d -c 'seq 9000 | sort | tail -n 1; seq 20000 | md5sum'
 */
#pragma D option quiet

profile-250
/curthread->mm != NULL && pid > 1/
{
	this->pages = curthread->mm->total_vm;
	@mean[execname] = avg(this->pages);
	@dev[execname] = stddev(this->pages);
	@most[execname] = max(this->pages);
}

END
{
	printf("%-8s %6s %6s %6s\n", "PROGRAM", "MEAN", "DEV", "MOST");
	printa("%-8s %@6d %@6d %@6d\n", @mean, @dev, @most);
}
