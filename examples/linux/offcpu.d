/*
 * offcpu.d: where threads wait, and for how long altogether, in microseconds: from
 * __schedule until the thread is back from the switch. The stack tells for what.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/offcpu.d -c '(sleep 0.2; echo done) | cat'
 */
#pragma D option quiet

kinst::__schedule:0
{
	self->off = timestamp;
}

kinst::finish_task_switch*:0
/self->off && (execname == "sleep" || execname == "cat")/
{
	@[execname, stack(5)] = sum((timestamp - self->off) / 1000);
	self->off = 0;
}
