/*
 * snoop.d: what programs write, byte by byte: the memory of the program at the moment of
 * the call. tracemem() shows any bytes, printf a string.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/snoop.d -c 'uname; printf "\001\002\377" | wc -c'
 */
#pragma D option quiet

kinst::ksys_write:0
/pid > 1/
{
	printf("%s: %d bytes to %d:", execname, arg2, arg0);
	tracemem(copyin(arg1, 16), 16, arg2);
}
