/*
 * slices.d: how long a thread runs until the scheduler turns to another, in microseconds
 * of the guest's time. switch_context is where one thread's stack is left for the next's.
 *
 *     trapline dtrace -s examples/slices.d -c 'forks 3; spin 500000'
 */
#pragma D option quiet

uint64_t last;

kinst::switch_context:0
/last/
{
	@[execname] = quantize((timestamp - last) / 1000);
}

kinst::switch_context:0
{
	last = timestamp;
}
