/*
 * writesize.d: the sizes of writes up to 100 bytes, ten to a row.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/writesize.d -c 'for i in 1 22 333; do echo $i; done; seq -s " " 12; uname -a > /dev/null'
 */
#pragma D option quiet

kinst::ksys_write:0
{
	@["bytes"] = lquantize(arg2, 0, 100, 10);
}
