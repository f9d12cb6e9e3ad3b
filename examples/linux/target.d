/*
 * target.d: the words after the flags are the script's arguments: here the name of a
 * program, and how many of its system calls to show; $$1 is the first as a string.
 *
 *     trapline dtrace -k debian/amd64 -c 'ls / | wc -l; cat /etc/passwd > /dev/null' -s examples/linux/target.d cat 8
 */
#pragma D option quiet

kinst::__x64_sys_*:0
/execname == $$1 && n++ < $2/
{
	this->regs = (struct pt_regs *)arg0;
	printf("%d %s(%d, 0x%x)\n", n, substr(probefunc, 10), (int)this->regs->di, this->regs->si);
}
