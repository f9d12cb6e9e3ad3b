/*
 * calls.d: who makes which system calls.
 *
 *     trapline dtrace -s examples/calls.d -c 'forks 3; ps'
 */
#pragma D option quiet

kinst::sys_*:0
{
	@[execname, probefunc] = count();
}

END
{
	printf("%-16s %-16s %8s\n", "PROGRAM", "CALL", "COUNT");
	printa("%-16s %-16s %@8d\n", @);
}
