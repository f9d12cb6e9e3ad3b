/* work.c: programs that give the kernel something to do. */
#include "user.h"

#define CHILDREN_MAX 8
#define BAD_POINTER 0xffffb00000000000ul

static u32 spin(u64 rounds)
{
	u32 x = 1;

	while (rounds--)
		x = x * 1664525 + 1013904223;
	return x;
}

int work_spin(int argc, char **argv)
{
	u64 n = number(argv[1], 1000000);

	(void)argc;
	print(1, "%u\n", spin(n));
	return 0;
}

int work_calls(int argc, char **argv)
{
	u64 n = number(argv[1], 1000), same = 0;
	s64 pid = call0(SYS_GETPID);

	(void)argc;
	for (u64 i = 0; i < n; i++)
		same += call0(SYS_GETPID) == pid;
	print(1, "%lu calls\n", same);
	return same != n;
}

static void fork_child(u64 index)
{
	volatile u64 on_stack = index;
	u32 sum = 0;

	call1(SYS_SETNAME, (u64)"child");
	for (int i = 0; i < 4; i++) {
		sum += spin(1000 * (index % 7 + 1));
		call0(SYS_YIELD);
	}
	exit(on_stack == index && sum ? 0 : 1);
}

/* forks N: at most CHILDREN_MAX of them at a time. */
int work_forks(int argc, char **argv)
{
	u64 n = number(argv[1], 3), begun = 0, ended = 0, good = 0;
	int status;

	(void)argc;
	while (ended < n) {
		while (begun < n && begun - ended < CHILDREN_MAX) {
			s64 pid = call0(SYS_FORK);

			if (pid == 0)
				fork_child(begun);
			if (pid < 0)
				return 1;
			begun++;
		}
		if (call1(SYS_WAIT, (u64)&status) < 0)
			return 1;
		ended++;
		good += status == 0;
	}
	print(1, "%lu forks\n", good);
	return good != n;
}

static int pipe_fds[2];
static u64 pipe_bytes;
static u8 producer_stack[PAGE_SIZE] __attribute__((aligned(16)));

static inline u8 pattern(u64 i)
{
	return i * 7 + (i >> 8);
}

static void producer(void)
{
	u8 buf[100];
	u64 sent = 0;

	while (sent < pipe_bytes) {
		u64 n = min(sizeof buf, pipe_bytes - sent);

		for (u64 i = 0; i < n; i++)
			buf[i] = pattern(sent + i);
		write(pipe_fds[1], buf, n);
		sent += n;
	}
	call1(SYS_CLOSE, pipe_fds[1]);
	exit(0);
}

/* pipe N: a second thread of this process produces, the first one consumes. */
int work_pipe(int argc, char **argv)
{
	u64 got = 0, good = 0;
	u8 buf[64];
	s64 n;

	(void)argc;
	pipe_bytes = number(argv[1], 10000);
	if (call1(SYS_PIPE, (u64)pipe_fds) < 0)
		return 1;
	if (system_call(SYS_THREAD, (u64)producer, (u64)producer_stack + sizeof producer_stack, 0) < 0)
		return 1;
	while ((n = read(pipe_fds[0], buf, sizeof buf)) > 0)
		for (s64 i = 0; i < n; i++, got++)
			good += buf[i] == pattern(got);
	print(1, "%lu bytes\n", good);
	return good != pipe_bytes;
}

/* memory KIB: every page comes by a fault, some of them inside the kernel. */
int work_memory(int argc, char **argv)
{
	u64 size = number(argv[1], 64) * 1024, sum = 0;
	u64 start = call1(SYS_BRK, 0);
	u8 *p = (u8 *)start;
	int fds[2];

	(void)argc;
	if ((u64)call1(SYS_BRK, start + size) != start + size)
		return 1;
	if (call1(SYS_PIPE, (u64)fds) < 0)
		return 1;
	for (u64 i = 0; i < size; i += PAGE_SIZE) {
		/* the kernel is the first to touch the page */
		write(fds[1], "page", 4);
		if (read(fds[0], p + i + PAGE_SIZE - 4, 4) != 4)
			return 1;
		p[i] = 1;
	}
	for (u64 i = 0; i < size; i++)
		sum += p[i];
	print(1, "%lu\n", sum);
	return 0;
}

static int expect(const char *what, s64 result, s64 want)
{
	print(1, "%s: %ld\n", what, result);
	return result != want;
}

/* read-bad: good up to the end of a page, then bad, for every way of copying. */
int work_read_bad(int argc, char **argv)
{
	u64 end = call1(SYS_BRK, 0);
	int fds[2], failed = 0;

	(void)argc, (void)argv;
	end = call1(SYS_BRK, (end + 2 * PAGE_SIZE) & ~(PAGE_SIZE - 1));
	call1(SYS_PIPE, (u64)fds);
	failed |= expect("write null", write(1, (void *)8, 4), -EFAULT);
	failed |= expect("write kernel", write(1, (void *)BAD_POINTER, 4), -EFAULT);
	failed |= expect("write words over the end", write(fds[1], (void *)(end - 20), 40), -EFAULT);
	failed |= expect("write bytes over the end", write(fds[1], (void *)(end - 2), 5), -EFAULT);
	failed |= expect("write string over the end", write(fds[1], (void *)(end - 200), 400), -EFAULT);
	write(fds[1], "12345678901234567890", 20);
	failed |= expect("read words over the end", read(fds[0], (void *)(end - 4), 20), -EFAULT);
	failed |= expect("name null", call1(SYS_SETNAME, 1), -EFAULT);
	failed |= expect("pipe null", call1(SYS_PIPE, 1), -EFAULT);
	failed |= expect("no such call", call0(SYS_COUNT), -ENOSYS);
	failed |= expect("no such file", write(7, "", 1), -EBADF);
	return failed;
}

int work_fault(int argc, char **argv)
{
	const struct fault_kind *k = fault_kinds;

	while (argc > 1 && k->name && strcmp(k->name, argv[1]))
		k++;
	if (!k->name) {
		for (k = fault_kinds; k->name; k++)
			print(2, "fault %s\n", k->name);
		return 2;
	}
	k->run();
	print(1, "nothing happened\n");
	return 1;
}
