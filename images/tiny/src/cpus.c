/*
 * cpus.c: a second CPU. It lends a hand and is off otherwise: threads, interrupts and user mode
 * are for the first one, and `current` is the thread for which both work.
 */
#include "kernel.h"

/* Where the architecture does not give it. */
__attribute__((weak)) bool cpu_start(void (*fn)(void))
{
	(void)fn;
	return false;
}

static void (*both)(int cpu);
static bool done;

static void second(void)
{
	both(1);
	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
}

bool cpus_run(void (*run)(int cpu))
{
	both = run;
	done = false;
	if (!cpu_start(second))
		return false;
	run(0);
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
		cpu_spin();
	return true;
}

void lock(struct lock *l)
{
	while (__atomic_exchange_n(&l->taken, 1, __ATOMIC_ACQUIRE))
		cpu_spin();
}

void unlock(struct lock *l)
{
	__atomic_store_n(&l->taken, 0, __ATOMIC_RELEASE);
}

/* A CPU waits for another, which will never come if that one has panicked. */
void cpu_spin(void)
{
	if (__atomic_load_n(&panicking, __ATOMIC_RELAXED))
		cpu_halt();
}
