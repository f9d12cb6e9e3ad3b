/*
 * opens.d: the files that are opened, by whom. The name is the second argument of
 * the kernel's function, an address in the program's memory.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/opens.d -c 'cat /etc/passwd /proc/loadavg; ls /none'
 */
#pragma D option quiet

kinst::do_sys_openat2:0
{
	printf("%-8s %d %s\n", execname, pid, copyinstr(arg1));
}
