/*
 * process.c: a process is an address space, open files and some threads. The
 * last thread to leave makes it a zombie, which its parent waits for.
 */
#include "dtrace_probe.h"
#include "kernel.h"

#define USER_ID 1000

struct process kernel_process = { .children = { LIST_INIT(kernel_process.children.threads) } };

static struct process processes[PROCESSES_MAX];
static s32 last_pid;

s32 pid_next(void)
{
	u64 flags = irq_save();
	s32 pid = ++last_pid;

	irq_restore(flags);
	return pid;
}

static struct process *process_new(struct process *parent)
{
	u64 flags = irq_save();
	struct process *p = NULL;

	for (int i = 0; i < PROCESSES_MAX && !p; i++)
		if (!processes[i].pid)
			p = &processes[i];
	if (p) {
		*p = (struct process){
			.pid = ++last_pid, .parent = parent,
			.uid = USER_ID, .gid = USER_ID, .brk = vm_heap(),
		};
		list_init(&p->children.threads);
	}
	irq_restore(flags);
	return p;
}

static void process_free(struct process *p)
{
	p->pid = 0;
}

/* process_spawn makes the first process: the shell, with its line on the stack. */
struct process *process_spawn(const char *line)
{
	struct process *p = process_new(&kernel_process);
	struct thread *t = thread_new(p, "sh");
	struct trapframe f;
	u64 size = strlen(line) + 1;
	u64 sp = (USER_STACK_TOP - size) & ~15ul;

	p->root = paging_new();
	t->ppid = current->pid;
	p->files[0].kind = FILE_NULL;
	p->files[1].kind = FILE_OUT;
	p->files[2].kind = FILE_ERR;
	vm_poke(p, sp, line, size);
	/* 8 below: as if the entry had been called */
	frame_user(&f, vm_entry(), sp - 8, sp);
	thread_frame_user(t, &f);
	thread_start(t);
	return p;
}

s64 process_fork(struct trapframe *f)
{
	struct process *parent = current->process;
	struct process *p = process_new(parent);
	struct thread *t;
	struct trapframe child = *f;

	if (!p)
		return -EAGAIN;
	t = thread_new(p, current->name);
	if (!t) {
		process_free(p);
		return -EAGAIN;
	}
	p->root = paging_new();
	p->brk = parent->brk;
	paging_copy(p->root, parent->root);
	files_copy(p, parent);
	frame_result(&child, 0);
	thread_frame_user(t, &child);
	DTRACE_PROVIDER_PROBE(proc, create, t);
	thread_start(t);
	return t->pid;
}

s64 process_thread(u64 entry, u64 stack, u64 arg)
{
	struct thread *t;
	struct trapframe f;

	if (!user_range(entry, 1) || !user_range(stack - 8, 8))
		return -EINVAL;
	t = thread_new(current->process, current->name);
	if (!t)
		return -EAGAIN;
	t->tid = pid_next();
	frame_user(&f, entry, stack - 8, arg);
	thread_frame_user(t, &f);
	thread_start(t);
	return t->tid;
}

/* With interrupts disabled: a zombie child of p, or NULL; *any: it has children. */
static struct process *find_zombie(struct process *p, bool *any)
{
	*any = false;
	for (int i = 0; i < PROCESSES_MAX; i++) {
		struct process *child = &processes[i];

		if (!child->pid || child->parent != p)
			continue;
		*any = true;
		if (child->zombie)
			return child;
	}
	return NULL;
}

s64 process_wait(int *status)
{
	struct process *p = current->process, *child;
	u64 flags = irq_save();
	s64 result;
	bool any;

	while (!(child = find_zombie(p, &any)) && any && !p->dying)
		wait_on(&p->children);
	if (child) {
		result = child->pid;
		*status = child->status;
		process_free(child);
	} else {
		result = any ? -EINTR : -ECHILD;
	}
	irq_restore(flags);
	return result;
}

/* The children of a process that ends become init's. */
static void orphan_children(struct process *p)
{
	for (int i = 0; i < PROCESSES_MAX; i++)
		if (processes[i].pid && processes[i].parent == p)
			processes[i].parent = &kernel_process;
	wake_all(&kernel_process.children);
}

static void process_end(struct process *p)
{
	u64 root = p->root;

	files_close(p);
	p->root = kernel_root;
	arch_switch(current);
	paging_free(root);
	orphan_children(p);
	p->zombie = true;
	wake_all(&p->parent->children);
}

void process_exit(int status)
{
	struct process *p = current->process;

	irq_disable();
	if (!p->dying && current->tid == p->pid)
		p->status = status;
	if (p->threads == 1) {
		/* CLD_EXITED or CLD_KILLED, and the status */
		DTRACE_PROVIDER_PROBE(proc, exit, p->dying ? 2 : 1, p->status);
		process_end(p);
	}
	thread_die();
}

/* Its threads end in user_return; those that wait are woken for it. */
void process_kill(int signal)
{
	struct process *p = current->process;

	p->dying = true;
	p->status = 128 + signal;
	for (int i = 0; i < THREADS_MAX; i++)
		if (threads[i].process == p)
			wake(&threads[i]);
}

void user_return(void)
{
	if (current->process->dying)
		process_exit(0);
}
