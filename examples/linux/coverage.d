/*
 * coverage.d: which instructions of a function run, and how often: what is not in the list
 * was jumped over. Only kinst can tell.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/coverage.d -c 'seq 20 | wc -l; md5sum /proc/version'
 */
#pragma D option quiet
#pragma D option aggsortkey

kinst::rw_verify_area:
/pid > 1/
{
	@[strtoll(probename)] = count();
}

END
{
	printa("+%-4d %@6d\n", @);
}
