/*
 * hotkernel.d: the kernel's functions with most time, by looking 997 times per second
 * where it is. arg0 is the address in the kernel, or 0 if a program was running.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/hotkernel.d -c 'dd if=/dev/zero bs=64k count=400 2> /dev/null | md5sum; find /sys | wc -l'
 */
#pragma D option quiet

profile-997
/arg0 && pid/
{
	@[func(arg0)] = count();
}

END
{
	trunc(@, 10);
	printa("%-44a %@5d\n", @);
}
