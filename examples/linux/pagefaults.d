/*
 * pagefaults.d: page faults by process, and whether it wanted to read, write or run what
 * was not there.
 *
 *     trapline dtrace -k debian/amd64 -s examples/linux/pagefaults.d -c 'uname; seq 1000 | sort -n | tail -n 1'
 */
#pragma D option quiet

enum { WRITE = 0x1, RUN = 0x100 }; /* FAULT_FLAG_WRITE, FAULT_FLAG_INSTRUCTION */

kinst::handle_mm_fault:0
{
	this->flags = (int)arg2;
	@[execname, this->flags & WRITE ? "write" : this->flags & RUN ? "run" : "read"] = count();
}

END
{
	printa("%-8s %-6s %@6d\n", @);
}
