/*
 * allocators.d: the five kernel stacks that allocate most often with kmalloc.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/allocators.d -c 'ls /proc > /dev/null; uname | cat'
 */
#pragma D option quiet

kinst::__kmalloc*:0
{
	@[stack(4)] = count();
}

END
{
	trunc(@, 5);
}
