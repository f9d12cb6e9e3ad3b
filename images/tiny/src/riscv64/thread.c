/* thread.c: the first stack contents of a thread, and what a switch changes. */
#include "../virt/virt.h"

/* What switch_context takes from the stack. */
struct switch_frame {
	u64 unused, s[12]; /* s11 first */
	u64 ra;
};

enum { S1 = 10 }; /* in s */

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

	*s = (struct switch_frame){ .ra = (u64)thread_begin };
	s->s[S1] = (u64)fn;
	t->sp = (u64)s;
}

/* The thread begins with a return to user mode, registers from f. */
void thread_frame_user(struct thread *t, const struct trapframe *f)
{
	struct trapframe *frame = (void *)(t->stack_top - sizeof *frame);
	struct switch_frame *s = (void *)((u64)frame - sizeof *s);

	*frame = *f;
	*s = (struct switch_frame){ .ra = (u64)trap_return };
	t->sp = (u64)s;
}

void frame_user(struct trapframe *f, u64 pc, u64 sp, u64 arg)
{
	*f = (struct trapframe){ .pc = pc, .status = STATUS_SPIE | STATUS_SUM };
	f->x[SP] = sp & ~15ul;
	f->x[A0] = arg;
}

void frame_result(struct trapframe *f, s64 result)
{
	f->x[A0] = result;
}
