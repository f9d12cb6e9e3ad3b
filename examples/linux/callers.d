/*
 * callers.d: who calls a function, by the one-liner that one types most often; $1 is any
 * function, by its probe.
 *
 *     trapline dtrace -k debian/amd64 -c 'ls -l /etc; mount -t tmpfs t /mnt' -s examples/linux/callers.d dput
 */
#pragma D option quiet
#pragma D option defaultargs

kinst::$1:0
/pid > 1/
{
	@[func(caller)] = count();
}
