/*
 * slabs.d: which caches the kernel takes its objects from, and which function wants them. The function has
 * the second name since Linux 6.10.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/slabs.d -c 'uname'
 */
#pragma D option quiet
#pragma D option zdefs

kinst::kmem_cache_alloc:0, kinst::kmem_cache_alloc_noprof:0
{
	@[stringof(((struct kmem_cache *)arg0)->name), func(caller)] = count();
}

END
{
	trunc(@, 15);
	printa("%-20s %-40a %@6d\n", @);
}
