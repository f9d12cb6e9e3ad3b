/*
 * init: the first process of a FreeBSD guest.
 *
 * It does what ../init.c does for Linux, with the same protocol on the second
 * UART: it says that it is ready, runs the one shell line that the host sends,
 * passes its output back in frames, sends its status and ends the machine. The
 * command ends when the shell ends: processes that it left behind are killed,
 * what they had written is still passed on.
 *
 * There is no libc. System calls have the same numbers on every architecture.
 */
#include "abi.h"
#if defined __x86_64__
#include "amd64.h"
#elif defined __aarch64__
#include "arm64.h"
#elif defined __riscv
#include "riscv64.h"
#endif

#define sys(n, a, b, c, d, e, f) \
	syscall6(SYS_##n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

enum { MAX_DATA = 4096, MAX_COMMAND = 32768, HEADER = 3 };

static int control = -1; /* the control channel */
static u8 frame[HEADER + MAX_DATA];
static char command[MAX_COMMAND + 1];

static const char *const argv0[] = {"sh", "-c", command, 0};
static const char *const envp[] = {
	"PATH=/bin:/sbin:/usr/bin:/usr/sbin:/rescue", "HOME=/", "TERM=dumb", 0,
};

static u64 length(const char *s)
{
	u64 n = 0;

	while (s[n])
		n++;
	return n;
}

static void say(const char *s)
{
	sys(write, 2, s, length(s), 0, 0, 0);
}

/* The kernel would wait for five seconds before it switches the power off. */
static __attribute__((noreturn)) void end_machine(void)
{
	static const char delay[] = "kern.shutdown.poweroff_delay";
	static const int none = 0;

	sys(sysctlbyname, delay, sizeof delay - 1, 0, 0, &none, sizeof none);
	sys(reboot, REBOOT_POWER_OFF | REBOOT_NOSYNC, 0, 0, 0, 0, 0);
	sys(reboot, REBOOT_HALT | REBOOT_NOSYNC, 0, 0, 0, 0, 0);
	for (;;)
		sys(poll, 0, 0, -1, 0, 0, 0);
}

static __attribute__((noreturn)) void die(const char *why)
{
	say("init: ");
	say(why);
	say(": ending the machine\n");
	end_machine();
}

/*
 * The kernel has mounted the root, for reading alone, and /dev. A kernel without tmpfs
 * goes without; then /tmp is in the root.
 */
static void mount_all(void)
{
	static const struct iovec root[] = {
		{"fstype", 7}, {"ufs", 4}, {"fspath", 7}, {"/", 2}, {"rw", 3}, {0, 0},
	};
	static const struct iovec tmp[] = {
		{"fstype", 7}, {"tmpfs", 6}, {"fspath", 7}, {"/tmp", 5},
	};

	sys(nmount, root, 6, MNT_UPDATE, 0, 0, 0);
	sys(nmount, tmp, 4, 0, 0, 0, 0);
}

/* The console is where messages of this program and of the shell before its start go. */
static void open_console(void)
{
	int fd = sys(openat, AT_FDCWD, "/dev/console", O_RDWR, 0, 0, 0);

	for (int i = 0; fd >= 0 && i < 3; i++)
		sys(dup2, fd, i, 0, 0, 0, 0);
}

/* Writes all of it: a terminal may take less at a time. */
static int put(const u8 *p, long n)
{
	while (n > 0) {
		long r = sys(write, control, p, n, 0, 0, 0);

		if (r == -EINTR || r == -EAGAIN)
			continue;
		if (r <= 0)
			return -1;
		p += r;
		n -= r;
	}
	return 0;
}

static int get(u8 *p, long n)
{
	while (n > 0) {
		long r = sys(read, control, p, n, 0, 0, 0);

		if (r == -EINTR || r == -EAGAIN)
			continue;
		if (r <= 0)
			return -1;
		p += r;
		n -= r;
	}
	return 0;
}

/* Sends a frame whose n bytes of payload lie in the buffer already. */
static int send(u8 type, long n)
{
	frame[0] = type;
	frame[1] = n;
	frame[2] = n >> 8;
	return put(frame, HEADER + n);
}

/* No echo, no line editing, no character is special: bytes pass as they are. */
static void set_raw(int fd)
{
	struct termios t;

	if (sys(ioctl, fd, TIOCGETA, &t, 0, 0, 0) < 0)
		return;
	t.iflag = t.oflag = t.lflag = 0;
	t.cflag = CS8 | CREAD | CLOCAL;
	t.cc[VMIN] = 1;
	t.cc[VTIME] = 0;
	t.ispeed = t.ospeed = 115200;
	sys(ioctl, fd, TIOCSETA, &t, 0, 0, 0);
}

static void open_control(void)
{
	control = sys(openat, AT_FDCWD, "/dev/cuau1", O_RDWR | O_CLOEXEC, 0, 0, 0);
	if (control < 0)
		die("no control channel (second serial port)");
	set_raw(control);
	if (send('R', 0) < 0)
		die("cannot write to the control channel");
}

static void read_command(void)
{
	u8 head[HEADER];
	long n;

	if (get(head, HEADER) < 0)
		die("cannot read the command");
	n = head[1] | head[2] << 8;
	if (head[0] != 'C' || n == 0 || n > MAX_COMMAND)
		die("the host sent something that is not a command");
	if (get((u8 *)command, n) < 0)
		die("cannot read the command");
	command[n] = 0;
}

static __attribute__((noreturn)) void child(int out, int err)
{
	int null = sys(openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0, 0, 0);

	sys(dup2, null, 0, 0, 0, 0, 0);
	sys(dup2, out, 1, 0, 0, 0, 0);
	sys(dup2, err, 2, 0, 0, 0, 0);
	sys(setsid, 0, 0, 0, 0, 0, 0);
	sys(execve, "/bin/sh", argv0, envp, 0, 0, 0);
	sys(execve, "/rescue/sh", argv0, envp, 0, 0, 0);
	say("init: cannot run /bin/sh\n");
	for (;;)
		sys(exit, 127, 0, 0, 0, 0, 0);
}

/*
 * Passes on what a pipe holds now. Returns 0 at its end, when nobody can write
 * to it any more, and 1 otherwise.
 */
static int pump(int fd, u8 type)
{
	for (;;) {
		long n = sys(read, fd, frame + HEADER, MAX_DATA, 0, 0, 0);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n == -EAGAIN;
		if (send(type, n) < 0)
			die("cannot write to the control channel");
	}
}

/* Collects every dead child. Returns 1, with its status, if pid is among them. */
static int reap(long pid, int *status)
{
	int found = 0, st;
	long p;

	while ((p = sys(wait4, -1, &st, WNOHANG, 0, 0, 0)) > 0)
		if (p == pid) {
			found = 1;
			*status = st & 0x7f ? 128 + (st & 0x7f) : st >> 8 & 0xff;
		}
	return found;
}

/* Returns a descriptor that has something to read when a process has ended. */
static int watch(long pid)
{
	static struct kevent exits = {.filter = EVFILT_PROC, .flags = EV_ADD, .fflags = NOTE_EXIT};
	int queue = sys(kqueue, 0, 0, 0, 0, 0, 0);

	exits.ident = pid;
	if (queue < 0 || sys(kevent, queue, &exits, 1, 0, 0, 0) < 0)
		die("cannot wait for the command");
	return queue;
}

/*
 * Runs the command to its end and returns its status. The child waits on a pipe
 * until it is watched, so that its end cannot come before.
 */
static int run(void)
{
	int out[2], err[2], go[2], status = 0, ended = 0, open_out = 1, open_err = 1, queue;
	u8 byte;
	long pid;

	if (sys(pipe2, out, O_CLOEXEC, 0, 0, 0, 0) < 0 || sys(pipe2, err, O_CLOEXEC, 0, 0, 0, 0) < 0 ||
	    sys(pipe2, go, O_CLOEXEC, 0, 0, 0, 0) < 0)
		die("cannot make pipes");
	sys(fcntl, out[0], F_SETFL, O_NONBLOCK, 0, 0, 0);
	sys(fcntl, err[0], F_SETFL, O_NONBLOCK, 0, 0, 0);

	pid = fork_process();
	if (pid == 0) {
		sys(close, go[1], 0, 0, 0, 0, 0);
		sys(read, go[0], &byte, 1, 0, 0, 0);
		child(out[1], err[1]);
	}
	if (pid < 0)
		die("cannot fork");
	queue = watch(pid);
	sys(close, go[0], 0, 0, 0, 0, 0);
	sys(close, go[1], 0, 0, 0, 0, 0);
	sys(close, out[1], 0, 0, 0, 0, 0);
	sys(close, err[1], 0, 0, 0, 0, 0);

	/* A descriptor below zero is one that poll leaves alone. */
	while (!ended || open_out || open_err) {
		struct pollfd p[3] = {
			{open_out ? out[0] : -1, POLLIN, 0},
			{open_err ? err[0] : -1, POLLIN, 0},
			{ended ? -1 : queue, POLLIN, 0},
		};

		sys(poll, p, 3, -1, 0, 0, 0);
		if (open_out && p[0].revents)
			open_out = pump(out[0], 'O');
		if (open_err && p[1].revents)
			open_err = pump(err[0], 'E');
		if (p[2].revents && reap(pid, &status)) {
			ended = 1;
			sys(kill, -1, SIGKILL, 0, 0, 0, 0);
		}
	}
	return status;
}

__attribute__((noreturn, used)) void init(void)
{
	open_console();
	mount_all();
	open_control();
	read_command();
	frame[HEADER] = run();
	send('S', 1);
	sys(ioctl, control, TIOCDRAIN, 0, 0, 0, 0); /* wait until the bytes are out */
	end_machine();
}
