/*
 * failures.d: system calls that fail, with their error. When the kernel is about to go
 * back to the program, what it returns is in the registers that it has saved.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/failures.d -c 'cat /none; rmdir /etc; kill 9999; mkdir /tmp'
 */
#pragma D option quiet

kinst::__x64_sys_*:0
{
	self->call = substr(probefunc, strlen("__x64_sys_"));
}

kinst::syscall_exit_to_user_mode:0
{
	this->result = (long)((struct pt_regs *)arg0)->ax;
}

kinst::syscall_exit_to_user_mode:0
/this->result < 0 && this->result > -4096/
{
	@[execname, self->call, -this->result] = count();
}

END
{
	printf("%-10s %-16s %6s %6s\n", "PROGRAM", "CALL", "ERRNO", "TIMES");
	printa("%-10s %-16s %6d %@6d\n", @);
}
