/*
 * runqueue.d: how long a thread that has been woken waits for the processor, in
 * microseconds. One thread wakes another: the key is the pid of the one that is woken.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/runqueue.d -c 'seq 3000 | sort | tail -n 1 & seq 3000 | md5sum; wait'
 */
#pragma D option quiet

kinst::ttwu_do_wakeup:0
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
