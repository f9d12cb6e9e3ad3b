/*
 * trap.c: what to do about a trap. Interrupts go to timer.c, system calls to
 * syscall.c. An exception in user mode kills the process; in the kernel somebody
 * may have expected it. Page faults of user addresses, from either side, go to
 * vm.c first.
 */
#include "local.h"

enum {
	INVALID_OPCODE = 2, BREAKPOINT = 3, ENVIRONMENT_CALL = 8,
	FETCH_PAGE_FAULT = 12, LOAD_PAGE_FAULT = 13, STORE_PAGE_FAULT = 15,
};

#define CAUSE_INTERRUPT (1ul << 63)

extern void trap_entry(void);

void trap_init(void)
{
	csr_write(stvec, trap_entry);
}

static int signal_of(u64 cause)
{
	switch (cause) {
	case BREAKPOINT:
		return SIGTRAP;
	case INVALID_OPCODE:
		return SIGILL;
	default:
		return SIGSEGV;
	}
}

static inline bool is_page_fault(const struct trapframe *f)
{
	return f->cause == FETCH_PAGE_FAULT || f->cause == LOAD_PAGE_FAULT ||
	       f->cause == STORE_PAGE_FAULT;
}

/* handle_page_fault: true when the instruction can be tried again. */
static bool handle_page_fault(struct trapframe *f)
{
	struct process *p = current->process;

	if (!user_range(f->value, 1) || paging_lookup(p->root, f->value))
		return false;
	return vm_fault(p, f->value, f->cause == STORE_PAGE_FAULT);
}

static void user_exception(struct trapframe *f)
{
	if (is_page_fault(f))
		klog("tiny: pid %d (%s): page fault at address 0x%lx, cause %lu",
		     current->pid, current->name, f->value, f->cause);
	else
		klog("tiny: pid %d (%s): exception %lu", current->pid, current->name, f->cause);
	process_kill(signal_of(f->cause));
}

/* The length of an instruction is in its two lowest bits. */
static inline u64 behind(u64 pc)
{
	return pc + ((*(const u16 *)pc & 3) == 3 ? 4 : 2);
}

/*
 * The kernel's own unimp and ebreak are counted and stepped over; awkward_*.S
 * wants to know the pc of the second.
 */
static bool kernel_own(struct trapframe *f)
{
	const char *text;

	switch (f->cause) {
	case INVALID_OPCODE:
		text = bug_text(f->pc);
		if (!text)
			return false;
		bug_count++;
		klog("tiny: warning: %s", text);
		f->pc = behind(f->pc);
		return true;
	case BREAKPOINT:
		breakpoint_count++;
		f->x[A0] = f->pc;
		f->pc = behind(f->pc);
		return true;
	}
	return false;
}

static void kernel_exception(struct trapframe *f)
{
	u64 fixup;

	if (kernel_own(f))
		return;
	fixup = exception_fixup(f->pc);
	if (fixup) {
		f->pc = fixup;
		return;
	}
	panic("exception %lu in the kernel, pc 0x%lx, address 0x%lx", f->cause, f->pc, f->value);
}

static void exception(struct trapframe *f)
{
	if (is_page_fault(f) && handle_page_fault(f))
		return;
	if (frame_is_user(f))
		user_exception(f);
	else
		kernel_exception(f);
}

static void system_call(struct trapframe *f)
{
	f->pc += 4;
	irq_enable();
	syscall(f);
	irq_disable();
}

/* Called by trap_entry with interrupts disabled; returns so. */
void trap(struct trapframe *f)
{
	if (f->cause & CAUSE_INTERRUPT)
		timer_interrupt(f->cause & ~CAUSE_INTERRUPT);
	else if (f->cause == ENVIRONMENT_CALL)
		system_call(f);
	else
		exception(f);
	if (frame_is_user(f))
		user_return();
}
