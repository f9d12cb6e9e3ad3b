/*
 * whyfailed.d: what the kernel did in a call of open that fails, and nothing of those
 * that do not: all is written into a speculation, which is committed or thrown away
 * when the result is known.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/whyfailed.d -c 'cat /etc/passwd > /dev/null; cat /etc/none'
 */
#pragma D option quiet
#pragma D option nspec=4

kinst::do_sys_openat2:0
/execname == "cat"/
{
	self->spec = speculation();
	speculate(self->spec);
	printf("open %s\n", copyinstr(arg1));
}

kinst::getname_flags*:0, kinst::alloc_empty_file:0, kinst::path_openat:0, kinst::link_path_walk*:0,
kinst::lookup_fast:0, kinst::d_alloc*:0, kinst::simple_lookup:0, kinst::do_dentry_open:0,
kinst::security_file_open:0, kinst::fd_install:0, kinst::put_unused_fd:0
/self->spec/
{
	speculate(self->spec);
	printf("  %s\n", probefunc);
}

kinst::syscall_exit_to_user_mode:0
/self->spec/
{
	self->error = -(int)((struct pt_regs *)arg0)->ax;
	if (self->error > 0) {
		commit(self->spec);
	} else {
		discard(self->spec);
	}
	self->spec = 0;
}

kinst::syscall_exit_to_user_mode:0
/self->error > 0/
{
	printf("failed with error %d\n", self->error);
	self->error = 0;
}
