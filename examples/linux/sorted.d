/*
 * sorted.d: the same table in four orders: by value, the other way round, by key, and by
 * the second aggregation of several.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/sorted.d -c 'seq 2000 | sort | md5sum; dd if=/dev/zero of=/dev/null bs=50k count=1 2> /dev/null; ls /etc'
 */
#pragma D option quiet

kinst::vfs_read:0, kinst::vfs_write:0
/pid > 1/
{
	@calls[execname] = count();
	@bytes[execname] = sum(arg2);
}

END
{
	printf("by calls\n");
	printa("  %-8s %@6d %@8d\n", @calls, @bytes);
	setopt("aggsortrev");
	printf("most first\n");
	printa("  %-8s %@6d %@8d\n", @calls, @bytes);
	setopt("aggsortkey");
	setopt("aggsortrev", "disabled");
	printf("by name\n");
	printa("  %-8s %@6d %@8d\n", @calls, @bytes);
	setopt("aggsortkey", "disabled");
	setopt("aggsortpos", "1");
	printf("by bytes\n");
	printa("  %-8s %@6d %@8d\n", @calls, @bytes);
}
