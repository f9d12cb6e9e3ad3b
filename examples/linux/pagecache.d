/*
 * pagecache.d: pages that file systems take into their cache and give back.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/pagecache.d -c 'dd if=/dev/zero of=/tmp/a bs=4k count=5 2> /dev/null; cp /etc/passwd /tmp/b; rm /tmp/a'
 */
#pragma D option quiet

kinst::shmem_add_to_page_cache:0
{
	@[execname, "added"] = count();
}

kinst::filemap_remove_folio:0
{
	@[execname, "removed"] = count();
}

END
{
	printa("%-8s %-8s %@4d\n", @);
}
