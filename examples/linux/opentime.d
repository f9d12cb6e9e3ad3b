/*
 * opentime.d: how long it takes to open a file, in microseconds, from one function of the
 * kernel to another: the time is kept in a variable of the thread.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/opentime.d -c 'for i in 1 2 3 4 5 6 7 8; do cat /etc/passwd > /dev/null; done'
 */
#pragma D option quiet

kinst::do_sys_openat2:0
{
	self->since = timestamp;
	self->name = copyinstr(arg1);
}

kinst::fd_install:0
/self->since/
{
	@[self->name] = llquantize((timestamp - self->since) / 1000, 10, 0, 3, 10);
	self->since = 0;
	self->name = "";
}
