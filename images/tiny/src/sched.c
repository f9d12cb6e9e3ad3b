/*
 * sched.c: threads take turns. The run queue holds those that could run but do
 * not; the timer moves the running one to its end a hundred times a second.
 *
 *	thread_start, wake                 schedule
 *	NEW, BLOCKED ----> RUNNABLE, queue <------> RUNNABLE, current
 *	        ^                                      |       |
 *	        +-------- wait_on, sleep_ticks --------+       +--> DEAD
 *
 * The reaper frees the dead: a thread cannot give away the stack it stands on.
 */
#include "dtrace_probe.h"
#include "kernel.h"

struct thread *current;
struct thread threads[THREADS_MAX];
u64 ticks;
bool need_resched;

static struct list run_queue = LIST_INIT(run_queue);
static struct list sleepers = LIST_INIT(sleepers);
static struct list dead = LIST_INIT(dead);
static struct wait_queue reaper_queue = { LIST_INIT(reaper_queue.threads) };
static struct thread *idle;
static u64 last_id;

static inline struct thread *thread_of(struct list *node)
{
	return container_of(node, struct thread, node);
}

static struct thread *find_unused(void)
{
	for (int i = 0; i < THREADS_MAX; i++)
		if (threads[i].state == UNUSED)
			return &threads[i];
	return NULL;
}

/* thread_new makes a thread that does not run yet, of a process; NULL when there are too many. */
struct thread *thread_new(struct process *p, const char *name)
{
	u64 flags = irq_save();
	struct thread *t = find_unused();

	if (t) {
		*t = (struct thread){
			.id = ++last_id, .pid = p->pid, .tid = p->pid, .process = p,
			.uid = p->uid, .gid = p->gid, .state = NEW,
		};
		if (p->parent)
			t->ppid = p->parent->pid;
		strcopy(t->name, name, sizeof t->name);
		list_init(&t->node);
		t->stack_top = stack_new(t - threads);
		p->threads++;
	}
	irq_restore(flags);
	return t;
}

/* Kernel threads share a process but have a pid each, as ps shows them. */
struct thread *thread_kernel(const char *name, void (*fn)(void))
{
	struct thread *t = thread_new(&kernel_process, name);

	if (!t)
		panic("no room for thread %s", name);
	t->pid = t->tid = pid_next();
	thread_frame_kernel(t, fn);
	thread_start(t);
	return t;
}

static inline void enqueue(struct thread *t)
{
	t->state = RUNNABLE;
	list_append(&run_queue, &t->node);
}

void thread_start(struct thread *t)
{
	u64 flags = irq_save();

	enqueue(t);
	irq_restore(flags);
}

static inline struct thread *pick_next(void)
{
	struct list *node = list_pop(&run_queue);

	return node ? thread_of(node) : idle;
}

void schedule(void)
{
	struct thread *prev = current, *next;

	need_resched = false;
	if (prev->state == RUNNABLE && prev != idle)
		enqueue(prev);
	next = pick_next();
	if (next == prev)
		return;
	DTRACE_PROVIDER_PROBE(sched, off__cpu, next);
	current = next;
	DTRACE_PROVIDER_PROBE(sched, on__cpu);
	arch_switch(next);
	switch_context(&prev->sp, next->sp);
}

void yield(void)
{
	u64 flags = irq_save();

	schedule();
	irq_restore(flags);
}

static inline void block_in(struct list *list)
{
	current->state = BLOCKED;
	list_append(list, &current->node);
	schedule();
}

/* wait_on returns when the queue was woken; the caller looks what has changed. */
void wait_on(struct wait_queue *q)
{
	block_in(&q->threads);
}

void wake(struct thread *t)
{
	u64 flags = irq_save();

	if (t->state == BLOCKED) {
		list_remove(&t->node);
		enqueue(t);
	}
	irq_restore(flags);
}

void wake_all(struct wait_queue *q)
{
	u64 flags = irq_save();

	while (!list_empty(&q->threads))
		wake(thread_of(q->threads.next));
	irq_restore(flags);
}

void sleep_ticks(u64 n)
{
	u64 flags = irq_save();

	current->wake_at = ticks + n;
	block_in(&sleepers);
	irq_restore(flags);
}

static void wake_sleepers(void)
{
	struct list *node = sleepers.next;

	while (node != &sleepers) {
		struct thread *t = thread_of(node);

		node = node->next;
		if (t->wake_at <= ticks)
			wake(t);
	}
}

void timer_tick(void)
{
	ticks++;
	wake_sleepers();
	need_resched = !list_empty(&run_queue);
}

void thread_die(void)
{
	irq_disable();
	current->process->threads--;
	wake_all(&reaper_queue);
	current->state = DEAD;
	list_append(&dead, &current->node);
	schedule();
	panic("a dead thread runs");
}

static void reaper(void)
{
	irq_disable();
	for (;;) {
		struct list *node = list_pop(&dead);

		if (node)
			thread_of(node)->state = UNUSED;
		else
			wait_on(&reaper_queue);
	}
}

/* The code that called us becomes the idle thread. */
void sched_init(void)
{
	idle = thread_new(&kernel_process, "idle");
	idle->pid = idle->tid = 0;
	idle->state = RUNNABLE;
	current = idle;
	thread_kernel("init", init_thread);
	thread_kernel("reaper", reaper);
}
