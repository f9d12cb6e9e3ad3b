/* thread.c: the first stack contents of a thread, and what a switch changes. */
#include "local.h"

/* What switch_context pops. */
struct switch_frame {
	u64 r15, r14, r13, r12, rbx, rbp, rip;
};

extern void thread_begin(void), trap_return(void);

void arch_switch(struct thread *next)
{
	u64 root = next->process->root, now;

	tss_set_stack(next->stack_top);
	cpu0.kernel_sp = next->stack_top;
	asm volatile("mov %%cr3, %0" : "=r"(now));
	if (root != now)
		asm volatile("mov %0, %%cr3" : : "r"(root) : "memory");
}

void thread_frame_kernel(struct thread *t, void (*fn)(void))
{
	/* 16 bytes of room: thread_begin's calls need an aligned stack */
	struct switch_frame *s = (void *)(t->stack_top - 16 - sizeof *s);

	*s = (struct switch_frame){ .rbx = (u64)fn, .rip = (u64)thread_begin };
	t->sp = (u64)s;
}

/* The thread begins with a return to user mode, registers from f. */
void thread_frame_user(struct thread *t, const struct trapframe *f)
{
	struct trapframe *frame = (void *)(t->stack_top - sizeof *frame);
	struct switch_frame *s = (void *)((u64)frame - sizeof *s);

	*frame = *f;
	*s = (struct switch_frame){ .rip = (u64)trap_return };
	t->sp = (u64)s;
}

void frame_user(struct trapframe *f, u64 pc, u64 sp, u64 arg)
{
	*f = (struct trapframe){
		.rip = pc, .rsp = sp, .rdi = arg,
		.cs = USER_CS, .ss = USER_DS, .flags = FLAG_IF,
	};
}

void frame_result(struct trapframe *f, s64 result)
{
	f->rax = result;
}
