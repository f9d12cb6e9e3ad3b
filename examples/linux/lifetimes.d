/*
 * lifetimes.d: how long each process lives. The parent makes it, the child ends it, so
 * what is known of it is kept in an associative array by its pid.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/lifetimes.d -c 'sleep 0.2 | sleep 0.1; uname'
 */
#pragma D option quiet

kinst::wake_up_new_task:0
{
	born[((struct task_struct *)arg0)->pid] = timestamp;
}

kinst::do_exit:0
/born[tid]/
{
	printf("%-8s %d lived %d ms\n", execname, tid, (timestamp - born[tid]) / 1000000);
	born[tid] = 0;
}
