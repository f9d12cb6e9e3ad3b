/*
 * maps.d: the memory that programs ask for, mapped anywhere or put to the end of the
 * heap, by powers of two.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/maps.d -c 'seq 30000 | sort -n | tail -n 1; uname'
 */
#pragma D option quiet

kinst::do_mmap:0, kinst::do_brk_flags:0
/pid > 1/
{
	@[probefunc] = quantize(probefunc == "do_mmap" ? arg2 : arg3);
}
