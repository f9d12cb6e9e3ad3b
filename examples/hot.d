/*
 * hot.d: the functions in which the kernel spends its instructions, all of them counted:
 * there is a probe on every one.
 *
 *     trapline dtrace -s examples/hot.d -c 'forks 2; ps'
 */
#pragma D option quiet

kinst::*:
{
	@[probefunc] = count();
}

END
{
	trunc(@, 8);
	printa("%-16s %@8d instructions\n", @);
}
