/*
 * readsize.d: how many bytes programs ask for when they read, by powers of two.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/readsize.d -c 'head -c 3000 /dev/zero | wc -c; dd if=/dev/zero of=/dev/null bs=300 count=5'
 */
#pragma D option quiet

kinst::ksys_read:0
/pid > 1/
{
	@[execname] = quantize(arg2);
}
