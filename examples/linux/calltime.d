/*
 * calltime.d: where the time of a program goes: for each of its system calls how many,
 * the mean and the total, in microseconds of the guest's time.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/calltime.d -c 'cat /proc/meminfo | sort | md5sum; sleep 0.05'
 */
#pragma D option quiet

kinst::__x64_sys_*:0
{
	self->call = probefunc;
	self->since = timestamp;
}

kinst::syscall_exit_to_user_mode:0
/self->since/
{
	@number[self->call] = count();
	@mean[self->call] = avg((timestamp - self->since) / 1000);
	@total[self->call] = sum((timestamp - self->since) / 1000);
	self->since = 0;
	self->call = "";
}

END
{
	printf("%-24s %8s %8s %8s\n", "CALL", "NUMBER", "MEAN", "TOTAL");
	printa("%-24s %@8d %@8d %@8d\n", @number, @mean, @total);
}
