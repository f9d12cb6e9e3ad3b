/*
 * faults.d: the pages that programs touch for the first time. The arguments of vm_fault
 * are still in their registers at its first instruction: address in RSI, write in RDX.
 *
 *     trapline dtrace -s examples/faults.d -c 'memory 16'
 */
#pragma D option quiet

kinst::vm_fault:0
{
	printf("%-8s %5s at %x\n", execname, (regs[R_RDX] & 1) ? "write" : "read", regs[R_RSI]);
}
