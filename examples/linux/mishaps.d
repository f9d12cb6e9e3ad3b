/*
 * mishaps.d: a clause that reads where nothing is ends and prints nothing, and ERROR tells
 * which clause it was, which action, the kind of the fault and the address. The others go on.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/mishaps.d -c 'ls / | tail -n 1'
 */
#pragma D option quiet

kinst::do_exit:0
{
	printf("%s: ", execname);
	printf("%d\n", ((struct mm_struct *)8)->map_count);
}

kinst::do_exit:0
{
	printf("%s has %d areas of memory\n", execname, curthread->mm->map_count);
}

ERROR
{
	printf("clause %d, action %d, fault %d at %x\n", arg1, arg2, arg4, arg5);
}
