/*
 * extensions.d: the functions on strings: files opened by directory and by the ending
 * of their name.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/extensions.d -c 'cd /tmp; touch a.c b.c c.TXT; cat *.* /etc/passwd'
 */
#pragma D option quiet

kinst::do_sys_openat2:0
/pid > 1/
{
	this->path = copyinstr(arg1);
	this->dot = strrchr(basename(this->path), '.');
	@[dirname(this->path), this->dot == NULL ? "none" : tolower(this->dot)] = count();
}

END
{
	printa("%-16s %-8s %@4d\n", @);
}
