/*
 * family.d: the tree of processes as it grows: an associative array has the depth of
 * each process, and if and else tell roots, threads of the kernel and the others apart.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/family.d -c '(sh -c "uname; (sleep 0.1; echo a | cat); :"; id -u; :) > /dev/null; sleep 0.1'
 */
#pragma D option quiet

int depth[int];

kinst::wake_up_new_task:0
{
	this->child = (struct task_struct *)arg0;
	if (this->child->mm == 0) {
		printf("thread of the kernel %d\n", this->child->pid);
	} else if (pid == 1) {
		depth[this->child->pid] = 1;
		printf("%d\n", this->child->pid);
	} else {
		depth[this->child->pid] = depth[pid] + 1;
		printf("%*s%d\n", 4 * depth[pid], "", this->child->pid);
	}
}
