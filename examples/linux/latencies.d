/*
 * latencies.d: for whom a read takes long: all reads of one kind of file together, in
 * microseconds, as rows of one picture.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/latencies.d -c 'for i in 1 2 3; do md5sum /etc/passwd /proc/meminfo; sleep 0.01 | wc -l; done > /dev/null'
 */
#pragma D option quiet
#pragma D option aggpack

kinst::vfs_read:0
/pid > 1/
{
	self->kind = stringof(((struct file *)arg0)->f_inode->i_sb->s_type->name);
	self->since = timestamp;
}

kinst::syscall_exit_to_user_mode:0
/self->since/
{
	@[self->kind] = quantize((timestamp - self->since) / 1000);
	self->since = 0;
}
