/*
 * users.d: system calls by user, with the credentials taken from the thread's structure:
 * the effective user is the one that counts for access to files.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/users.d -c 'id -u; su -s /bin/sh nobody -c "id -u; ls /root"'
 */
#pragma D option quiet

kinst::__x64_sys_*:0
/pid > 1/
{
	@[uid, curthread->cred->euid.val] = count();
}

END
{
	printf("%6s %6s %6s\n", "USER", "AS", "CALLS");
	printa("%6d %6d %@6d\n", @);
}
