/* thread.c: the first stack contents of a thread, and what a switch changes. */
#include "../virt/virt.h"

/* What switch_context takes from the stack. */
struct switch_frame {
	u64 x29, x30, x19, x20_to_x28[9];
};

extern void thread_begin(void), trap_return(void);

void arch_switch(struct thread *next)
{
	u64 root = next->process->root;

	if (root != paging_root())
		paging_set(root);
}

void thread_frame_kernel(struct thread *t, void (*fn)(void))
{
	struct switch_frame *s = (void *)(t->stack_top - sizeof *s);

	*s = (struct switch_frame){ .x19 = (u64)fn, .x30 = (u64)thread_begin };
	t->sp = (u64)s;
}

/* The thread begins with a return to user mode, registers from f. */
void thread_frame_user(struct thread *t, const struct trapframe *f)
{
	struct trapframe *frame = (void *)(t->stack_top - sizeof *frame);
	struct switch_frame *s = (void *)((u64)frame - sizeof *s);

	*frame = *f;
	*s = (struct switch_frame){ .x30 = (u64)trap_return };
	t->sp = (u64)s;
}

/* All bits of pstate 0: user mode, interrupts on. */
void frame_user(struct trapframe *f, u64 pc, u64 sp, u64 arg)
{
	*f = (struct trapframe){ .pc = pc, .sp = sp & ~15ul, .x = { arg } };
}

void frame_result(struct trapframe *f, s64 result)
{
	f->x[0] = result;
}
