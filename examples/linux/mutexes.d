/*
 * mutexes.d: the mutexes that are variables of the kernel, and the longest time between
 * lock and unlock of each, in nanoseconds. The others are in objects of the heap.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/mutexes.d -c 'mount -t tmpfs t /mnt; umount /mnt; ip link set lo up; ls /sys/block > /dev/null'
 */
#pragma D option quiet

kinst::mutex_lock:0
/pid > 1 && arg0 >= (uint64_t)&`_sdata && arg0 < (uint64_t)&`_end/
{
	self->since[arg0] = timestamp;
}

kinst::mutex_unlock:0
/self->since[arg0]/
{
	@[sym(arg0)] = max(timestamp - self->since[arg0]);
	self->since[arg0] = 0;
}
