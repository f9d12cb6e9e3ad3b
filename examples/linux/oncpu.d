/*
 * oncpu.d: how long threads keep the processor before the next one gets it, in
 * microseconds. At __switch_to the thread that goes is still the current one; threads of
 * the kernel have no memory of their own, and are left out.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/oncpu.d -c 'seq 2000 | sort | md5sum'
 */
#pragma D option quiet

uint64_t since;

kinst::__switch_to:0
/since && pid > 1 && curthread->mm != NULL/
{
	@[execname] = quantize((timestamp - since) / 1000);
}

kinst::__switch_to:0
{
	since = timestamp;
}
