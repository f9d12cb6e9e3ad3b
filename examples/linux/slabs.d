/*
 * slabs.d: which caches the kernel takes its objects from, and which function wants them.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/slabs.d -c 'uname'
 */
#pragma D option quiet

kinst::kmem_cache_alloc:0
{
	@[stringof(((struct kmem_cache *)arg0)->name), func(caller)] = count();
}

END
{
	trunc(@, 15);
	printa("%-20s %-40a %@6d\n", @);
}
