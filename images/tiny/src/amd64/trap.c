/*
 * trap.c: what to do about a trap. Interrupts go to timer.c. An exception in
 * user mode kills the process; in the kernel somebody may have expected it.
 * Page faults of user addresses, from either side, go to vm.c first.
 */
#include "local.h"

enum {
	DIVIDE = 0, DEBUG = 1, NMI = 2, BREAKPOINT = 3, OVERFLOW = 4,
	INVALID_OPCODE = 6, DOUBLE_FAULT = 8, GENERAL_PROTECTION = 13,
	PAGE_FAULT = 14,
};

#define ERROR_PRESENT 1
#define ERROR_WRITE 2

static inline u64 fault_address(void)
{
	u64 addr;

	asm volatile("mov %%cr2, %0" : "=r"(addr));
	return addr;
}

static int signal_of(u64 vector)
{
	switch (vector) {
	case DIVIDE:
		return SIGFPE;
	case DEBUG:
	case BREAKPOINT:
	case OVERFLOW:
		return SIGTRAP;
	case INVALID_OPCODE:
		return SIGILL;
	default:
		return SIGSEGV;
	}
}

/* handle_page_fault: true when the instruction can be tried again. */
static bool handle_page_fault(struct trapframe *f, u64 addr)
{
	if (f->error & ERROR_PRESENT)
		return false;
	return vm_fault(current->process, addr, f->error & ERROR_WRITE);
}

static void user_exception(struct trapframe *f)
{
	int signal = signal_of(f->vector);

	if (f->vector == PAGE_FAULT)
		klog("tiny: pid %d (%s): page fault at address 0x%lx, error %lu",
		     current->pid, current->name, fault_address(), f->error);
	else
		klog("tiny: pid %d (%s): exception %lu, error %lu",
		     current->pid, current->name, f->vector, f->error);
	process_kill(signal);
}

/*
 * The kernel's own ud2, int3 and int are counted and stepped over. The last
 * two come with the pc behind them; awkward_*.S wants to know it.
 */
static bool kernel_own(struct trapframe *f)
{
	const char *text;

	switch (f->vector) {
	case INVALID_OPCODE:
		text = bug_text(f->rip);
		if (!text)
			return false;
		bug_count++;
		klog("tiny: warning: %s", text);
		f->rip += 2;
		return true;
	case BREAKPOINT:
		breakpoint_count++;
		f->rax = f->rip;
		return true;
	case VECTOR_SOFTWARE:
		software_count++;
		f->rax = f->rip;
		return true;
	case NMI:
		return true;
	}
	return false;
}

static void kernel_exception(struct trapframe *f)
{
	u64 fixup;

	if (kernel_own(f))
		return;
	fixup = exception_fixup(f->rip);
	if (fixup) {
		f->rip = fixup;
		return;
	}
	if (f->vector == DOUBLE_FAULT)
		panic("double fault, stack 0x%lx", f->rsp);
	panic("exception %lu in the kernel, error %lu, pc 0x%lx, address 0x%lx",
	      f->vector, f->error, f->rip, fault_address());
}

static void exception(struct trapframe *f)
{
	if (f->vector == PAGE_FAULT && handle_page_fault(f, fault_address()))
		return;
	if (frame_is_user(f))
		user_exception(f);
	else
		kernel_exception(f);
}

/* Called by trap_entry with interrupts disabled; returns so. */
void trap(struct trapframe *f)
{
	if (f->vector >= VECTOR_IRQ && f->vector < VECTOR_IRQ + 16)
		timer_interrupt(f->vector - VECTOR_IRQ);
	else
		exception(f);
	if (frame_is_user(f))
		user_return();
}
