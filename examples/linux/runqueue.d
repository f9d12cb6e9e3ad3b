/*
 * runqueue.d: how long a thread that has been woken waits for the processor, in
 * microseconds. One thread wakes another: the key is the pid of the one that is woken. Kernels since
 * Linux 6.2 have the first of the two functions inlined into the second.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/runqueue.d -c 'seq 3000 | sort | tail -n 1 & seq 3000 | md5sum; wait'
 */
#pragma D option quiet
#pragma D option zdefs

kinst::ttwu_do_wakeup:0, kinst::ttwu_do_activate:0
{
	woken[((struct task_struct *)arg1)->pid] = timestamp;
}

kinst::__switch_to:0
{
	this->next = (struct task_struct *)arg1;
	this->since = woken[this->next->pid];
}

kinst::__switch_to:0
/this->since && this->next->mm != NULL && this->next->pid > 1/
{
	@[stringof(this->next->comm)] = quantize((timestamp - this->since) / 1000);
	woken[this->next->pid] = 0;
}
