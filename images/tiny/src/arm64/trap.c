/*
 * trap.c: what to do about a trap. Interrupts go to timer.c, system calls to
 * syscall.c. An exception in user mode kills the process; in the kernel somebody
 * may have expected it. Page faults of user addresses, from either side, go to
 * vm.c first.
 */
#include "local.h"

/* Classes of exceptions, in the upper bits of the syndrome */
enum {
	INVALID_OPCODE = 0x00, SYSTEM_CALL = 0x15, FETCH_ABORT_USER = 0x20,
	FETCH_ABORT = 0x21, DATA_ABORT_USER = 0x24, DATA_ABORT = 0x25,
	STEP_USER = 0x32, BREAKPOINT = 0x3c,
};

#define ESR_CLASS_SHIFT 26
#define ESR_WRITE 0x40
#define ESR_FAULT 0x3c /* of an abort, without the level */
#define FAULT_TRANSLATION 0x04

enum { VECTOR_SYNC, VECTOR_IRQ }; /* modulo 4 */

extern char trap_vectors[];

void trap_init(void)
{
	register_write(vbar_el1, trap_vectors);
	barrier_instruction();
}

static inline u64 class_of(const struct trapframe *f)
{
	return f->esr >> ESR_CLASS_SHIFT & 0x3f;
}

static int signal_of(u64 class)
{
	switch (class) {
	case BREAKPOINT:
	case STEP_USER:
		return SIGTRAP;
	case INVALID_OPCODE:
		return SIGILL;
	default:
		return SIGSEGV;
	}
}

static inline bool is_abort(u64 class)
{
	return class == FETCH_ABORT_USER || class == FETCH_ABORT ||
	       class == DATA_ABORT_USER || class == DATA_ABORT;
}

/* handle_page_fault: true when the instruction can be tried again. */
static bool handle_page_fault(struct trapframe *f)
{
	bool write = class_of(f) >= DATA_ABORT_USER && f->esr & ESR_WRITE;

	if ((f->esr & ESR_FAULT) != FAULT_TRANSLATION || !user_range(f->far, 1))
		return false;
	return vm_fault(current->process, f->far, write);
}

static void user_exception(struct trapframe *f)
{
	u64 class = class_of(f);

	if (is_abort(class))
		klog("tiny: pid %d (%s): page fault at address 0x%lx, syndrome 0x%lx",
		     current->pid, current->name, f->far, f->esr);
	else
		klog("tiny: pid %d (%s): exception 0x%lx, syndrome 0x%lx",
		     current->pid, current->name, class, f->esr);
	process_kill(signal_of(class));
}

/*
 * The kernel's own udf, brk and svc are counted and stepped over. awkward_*.S
 * wants to know the pc that came with the last two; that of svc is behind it.
 */
static bool kernel_own(struct trapframe *f)
{
	const char *text;

	switch (class_of(f)) {
	case INVALID_OPCODE:
		text = bug_text(f->pc);
		if (!text)
			return false;
		bug_count++;
		klog("tiny: warning: %s", text);
		f->pc += 4;
		return true;
	case BREAKPOINT:
		breakpoint_count++;
		f->x[0] = f->pc;
		f->pc += 4;
		return true;
	case SYSTEM_CALL:
		software_count++;
		f->x[0] = f->pc;
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
	panic("exception 0x%lx in the kernel, syndrome 0x%lx, pc 0x%lx, address 0x%lx",
	      class_of(f), f->esr, f->pc, f->far);
}

static void exception(struct trapframe *f)
{
	if (is_abort(class_of(f)) && handle_page_fault(f))
		return;
	if (frame_is_user(f))
		user_exception(f);
	else
		kernel_exception(f);
}

static void system_call(struct trapframe *f)
{
	irq_enable();
	syscall(f);
	irq_disable();
}

/* Called by trap_entry with interrupts disabled; returns so. */
void trap(struct trapframe *f)
{
	if (f->vector % 4 == VECTOR_IRQ)
		timer_interrupt();
	else if (f->vector % 4 != VECTOR_SYNC)
		panic("vector %lu, syndrome 0x%lx, pc 0x%lx", f->vector, f->esr, f->pc);
	else if (class_of(f) == SYSTEM_CALL && frame_is_user(f))
		system_call(f);
	else
		exception(f);
	if (frame_is_user(f))
		user_return();
}
