/*
 * kills.d: signals, who sends them and who gets them.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/kills.d -c 'sleep 9 & kill -TERM $!; wait; yes | head -n 1; sh -c "kill -SEGV \$\$"'
 */
#pragma D option quiet

BEGIN
{
	printf("%-12s %5s %6s %-12s %5s\n", "SENDER", "PID", "SIGNAL", "RECEIVER", "PID");
}

kinst::__send_signal_locked:0
/pid > 1/
{
	this->to = (struct task_struct *)arg2;
	printf("%-12s %5d %6d %-12s %5d\n", execname, pid, (int)arg0,
	    stringof(this->to->comm), this->to->tgid);
}
