/*
 * exits.d: how processes end. do_exit gets what wait() is to return: the status in the
 * second byte, or the signal in the first.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/exits.d -c '(exit 42); sh -c "exit 3"; sleep 9 & kill $!; wait $!; sh -c "kill -SEGV \$\$"'
 */
#pragma D option quiet

kinst::do_exit:0
{
	this->code = (int)arg0;
	if (this->code & 0x7f) {
		printf("%-8s %d killed by signal %d\n", execname, pid, this->code & 0x7f);
	} else {
		printf("%-8s %d exit status %d\n", execname, pid, this->code >> 8);
	}
}
