/*
 * race.c: three classic races between two CPUs. Each has one mistake, which most runs do not show;
 * `trapline explore` finds one that does, and tells what has happened in it.
 *
 *	count       two CPUs add to a counter without a lock       an update is lost
 *	session     a reference is taken when the lock is gone     use after free
 *	transfer    two locks, each CPU begins with another one    deadlock
 */
#include "kernel.h"

/* ---- count ---- */

#define VISITORS 500

static volatile u64 visitors;

/* The mistake: between the load and the store the other CPU may have counted as well. */
static noinline void count_visitor(void)
{
	visitors = visitors + 1;
}

static void count(int cpu)
{
	(void)cpu;
	for (int i = 0; i < VISITORS; i++)
		count_visitor();
}

static s64 count_check(void)
{
	s64 lost = 2 * VISITORS - visitors;

	visitors = 0;
	return lost;
}

/* ---- session ---- */

#define OPEN 0x6e65706f /* "open" */
#define USES 100
#define USES_OF_ONE 10

struct session {
	u32 state; /* OPEN until it is freed */
	u32 references;
};

static struct session *newest; /* has a reference of its own */
static struct lock newest_lock;

static void session_put(struct session *s)
{
	if (__atomic_sub_fetch(&s->references, 1, __ATOMIC_ACQ_REL) == 0) {
		s->state = 0;
		page_free(s);
	}
}

/* The mistake: another session may come, and this one be freed, before the reference is taken. */
static noinline struct session *session_get(void)
{
	struct session *s;

	lock(&newest_lock);
	s = newest;
	unlock(&newest_lock);
	__atomic_add_fetch(&s->references, 1, __ATOMIC_RELAXED);
	return s;
}

static void session_use(void)
{
	struct session *s = session_get();

	if (s->state != OPEN)
		panic("a session is used that has been freed");
	session_put(s);
}

/* session_open opens a session in the place of the newest one. */
static noinline void session_open(void)
{
	struct session *s = page_alloc(), *old;

	*s = (struct session){ OPEN, 1 };
	lock(&newest_lock);
	old = newest;
	newest = s;
	unlock(&newest_lock);
	if (old)
		session_put(old);
}

static void session(int cpu)
{
	for (int i = 0; i < USES; i++)
		if (cpu == 0)
			session_use();
		else if (i % USES_OF_ONE == 0)
			session_open();
}

static s64 session_check(void)
{
	return newest->references - 1;
}

/* ---- transfer ---- */

#define TRANSFERS 20

struct account {
	struct lock lock;
	s64 money;
};

static struct account accounts[2];

/* The mistake: the other CPU may have locked `to` and wait for `from`. */
static noinline void transfer_money(struct account *from, struct account *to)
{
	lock(&from->lock);
	lock(&to->lock);
	from->money--;
	to->money++;
	unlock(&to->lock);
	unlock(&from->lock);
}

static void transfer(int cpu)
{
	for (int i = 0; i < TRANSFERS; i++)
		transfer_money(&accounts[cpu], &accounts[1 - cpu]);
}

static s64 transfer_check(void)
{
	return accounts[0].money + accounts[1].money;
}

static void nothing(void)
{
}

static const struct {
	void (*prepare)(void);
	void (*run)(int cpu);
	s64 (*check)(void); /* what is missing at the end */
} races[RACES] = {
	[RACE_COUNT] = { nothing, count, count_check },
	[RACE_SESSION] = { session_open, session, session_check },
	[RACE_TRANSFER] = { nothing, transfer, transfer_check },
};

s64 race(u64 which)
{
	if (which >= RACES)
		return -EINVAL;
	races[which].prepare();
	if (!cpus_run(races[which].run))
		return -ENODEV;
	return races[which].check();
}
