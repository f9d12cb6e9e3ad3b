/*
 * syscall.c: the system calls. Each takes its arguments from the frame and
 * returns a result, which goes back in the frame.
 */
#include "kernel.h"

static s64 sys_exit(struct trapframe *f)
{
	process_exit(frame_arg0(f) & 0xff);
}

static s64 sys_fork(struct trapframe *f)
{
	return process_fork(f);
}

static s64 sys_wait(struct trapframe *f)
{
	int status;
	s64 pid = process_wait(&status);

	if (pid > 0 && frame_arg0(f) && !copy_to_user(frame_arg0(f), &status, sizeof status))
		return -EFAULT;
	return pid;
}

static s64 sys_read(struct trapframe *f)
{
	return file_read(frame_arg0(f), frame_arg1(f), frame_arg2(f));
}

static s64 sys_write(struct trapframe *f)
{
	return file_write(frame_arg0(f), frame_arg1(f), frame_arg2(f));
}

static s64 sys_getpid(struct trapframe *f)
{
	(void)f;
	return current->pid;
}

static s64 sys_yield(struct trapframe *f)
{
	(void)f;
	yield();
	return 0;
}

static s64 sys_sleep(struct trapframe *f)
{
	sleep_ticks((frame_arg0(f) * TICK_HZ + 999) / 1000);
	return 0;
}

static s64 sys_brk(struct trapframe *f)
{
	u64 addr = frame_arg0(f);

	if (addr >= vm_heap() && addr <= USER_HEAP_END)
		current->process->brk = addr;
	return current->process->brk;
}

static s64 sys_pipe(struct trapframe *f)
{
	return file_pipe(frame_arg0(f));
}

static s64 sys_dup(struct trapframe *f)
{
	return file_dup(frame_arg0(f), frame_arg1(f));
}

static s64 sys_close(struct trapframe *f)
{
	return file_close(frame_arg0(f));
}

static s64 sys_thread(struct trapframe *f)
{
	return process_thread(frame_arg0(f), frame_arg1(f), frame_arg2(f));
}

static s64 sys_setname(struct trapframe *f)
{
	char name[sizeof current->name];

	if (!string_from_user(name, frame_arg0(f), sizeof name))
		return -EFAULT;
	strcopy(current->name, name, sizeof current->name);
	return 0;
}

static char state_letter(const struct thread *t)
{
	switch (t->state) {
	case RUNNABLE:
		return 'R';
	case BLOCKED:
		return 'S';
	default:
		return 'Z';
	}
}

static s64 sys_threads(struct trapframe *f)
{
	u64 index = frame_arg0(f);
	struct thread_info info = { 0 };
	const struct thread *t;

	if (index >= THREADS_MAX)
		return 0;
	t = &threads[index];
	if (t->state != UNUSED) {
		info = (struct thread_info){ t->pid, t->tid, t->ppid, t->uid, state_letter(t), "" };
		strcopy(info.name, t->name, sizeof info.name);
	}
	return copy_to_user(frame_arg1(f), &info, sizeof info) ? 1 : -EFAULT;
}

static s64 sys_uname(struct trapframe *f)
{
	u64 n = min(strlen(tiny_banner) + 1, frame_arg1(f));

	return copy_to_user(frame_arg0(f), tiny_banner, n) ? (s64)n : -EFAULT;
}

/* sys_check runs one of the kernel's own checks; see check.c. */
static s64 sys_check(struct trapframe *f)
{
	const struct check *c = check_at(frame_arg0(f), frame_arg1(f));
	struct check_info info = { 0 };

	if (!c)
		return -EINVAL;
	strcopy(info.name, c->name, sizeof info.name);
	info.failed = c->run();
	return copy_to_user(frame_arg2(f), &info, sizeof info) ? 0 : -EFAULT;
}

static s64 sys_power(struct trapframe *f)
{
	switch (frame_arg0(f)) {
	case POWER_PANIC:
		panic("asked for by pid %d", current->pid);
	case POWER_HANG:
		timer_stop();
		for (;;)
			cpu_idle();
	case POWER_REBOOT:
		arch_reboot();
	case POWER_TRIPLE:
		arch_triple_fault();
	}
	return -EINVAL;
}

static s64 sys_probe(struct trapframe *f)
{
	probe_fire(frame_arg0(f));
	return 0;
}

static s64 sys_race(struct trapframe *f)
{
	return race(frame_arg0(f));
}

static s64 (*const calls[SYS_COUNT])(struct trapframe *) = {
	[SYS_EXIT] = sys_exit,
	[SYS_FORK] = sys_fork,
	[SYS_WAIT] = sys_wait,
	[SYS_READ] = sys_read,
	[SYS_WRITE] = sys_write,
	[SYS_GETPID] = sys_getpid,
	[SYS_YIELD] = sys_yield,
	[SYS_SLEEP] = sys_sleep,
	[SYS_BRK] = sys_brk,
	[SYS_PIPE] = sys_pipe,
	[SYS_DUP] = sys_dup,
	[SYS_CLOSE] = sys_close,
	[SYS_THREAD] = sys_thread,
	[SYS_SETNAME] = sys_setname,
	[SYS_THREADS] = sys_threads,
	[SYS_UNAME] = sys_uname,
	[SYS_CHECK] = sys_check,
	[SYS_POWER] = sys_power,
	[SYS_PROBE] = sys_probe,
	[SYS_RACE] = sys_race,
};

/* Called by syscall_entry with interrupts enabled. */
void syscall(struct trapframe *f)
{
	u64 number = frame_number(f);
	s64 result = -ENOSYS;

	if (number < SYS_COUNT)
		result = calls[number](f);
	frame_result(f, result);
	user_return();
}
