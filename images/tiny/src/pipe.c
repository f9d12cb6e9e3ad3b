/* pipe.c: a ring of bytes between two ends that wait for one another. */
#include "kernel.h"

#define RING_SIZE 512

struct pipe {
	int readers, writers;
	u64 in, out; /* bytes ever written and read */
	struct wait_queue changed;
	char ring[RING_SIZE];
};

_Static_assert(sizeof(struct pipe) <= PAGE_SIZE, "a pipe is a page");

static inline u64 used(const struct pipe *p)
{
	return p->in - p->out;
}

/* pipe_new: one reader, one writer */
struct pipe *pipe_new(void)
{
	struct pipe *p = page_alloc();

	p->readers = p->writers = 1;
	list_init(&p->changed.threads);
	return p;
}

void pipe_hold(struct pipe *p, bool writer)
{
	u64 flags = irq_save();

	if (writer)
		p->writers++;
	else
		p->readers++;
	irq_restore(flags);
}

void pipe_drop(struct pipe *p, bool writer)
{
	u64 flags = irq_save();

	if (writer)
		p->writers--;
	else
		p->readers--;
	wake_all(&p->changed);
	if (p->readers == 0 && p->writers == 0)
		page_free(p);
	irq_restore(flags);
}

/* pipe_read waits for a byte and takes what is there; 0: no writer is left. */
s64 pipe_read(struct pipe *p, char *buf, u64 n)
{
	u64 flags = irq_save();
	s64 done = 0;

	while (used(p) == 0 && p->writers > 0 && !current->process->dying)
		wait_on(&p->changed);
	for (; (u64)done < n && used(p) > 0; done++)
		buf[done] = p->ring[p->out++ % RING_SIZE];
	wake_all(&p->changed);
	irq_restore(flags);
	return done;
}

/* pipe_write waits until all is written. */
s64 pipe_write(struct pipe *p, const char *buf, u64 n)
{
	u64 flags = irq_save();
	s64 done = 0;

	while ((u64)done < n && p->readers > 0 && !current->process->dying) {
		if (used(p) == RING_SIZE) {
			wait_on(&p->changed);
			continue;
		}
		p->ring[p->in++ % RING_SIZE] = buf[done++];
		wake_all(&p->changed);
	}
	irq_restore(flags);
	return (u64)done == n ? done : -EPIPE;
}
