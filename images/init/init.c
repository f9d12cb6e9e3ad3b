/*
 * init: the first process of a Linux guest.
 *
 * It mounts what a shell expects, tells the host on the control channel (the
 * second UART, see package images/control) that it is ready, runs the one shell
 * line that the host sends, passes its output back in frames, sends its status
 * and turns the machine off:
 *
 *	host  <- R            we are ready
 *	host  -> C line       what to run
 *	host  <- O, E bytes   its standard output and standard error, as they come
 *	host  <- S status     its exit status, 128+n for signal n
 *
 * The command ends when the shell ends: processes that it left behind are killed,
 * what they had written is still passed on. Standard output goes first when both
 * have something, so that the order of frames depends on the guest alone.
 *
 * There is no libc: the program is a few KB, starts in one page fault or two and
 * does nothing that is not written here.
 */
#include "generic.h"
#if defined __x86_64__
#include "amd64.h"
#elif defined __aarch64__
#include "arm64.h"
#elif defined __riscv
#include "riscv64.h"
#endif

#define sys(n, a, b, c, d, e) \
	syscall6(SYS_##n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

enum { MAX_DATA = 4096, MAX_COMMAND = 32768, HEADER = 3 };

static int control = -1; /* the control channel */
static u8 frame[HEADER + MAX_DATA];
static char command[MAX_COMMAND + 1];

static const char *const channels[] = {"/dev/ttyS1", "/dev/ttyAMA1", 0};

static const char *const argv0[] = {"sh", "-c", command, 0};
static const char *const envp[] = {
	"PATH=/bin:/sbin:/usr/bin:/usr/sbin", "HOME=/", "TERM=dumb", 0,
};

static void say(const char *s)
{
	u64 n = 0;

	while (s[n])
		n++;
	sys(write, 2, s, n, 0, 0);
}

static __attribute__((noreturn)) void power_off(void)
{
	sys(sync, 0, 0, 0, 0, 0);
	sys(reboot, REBOOT_MAGIC1, REBOOT_MAGIC2, REBOOT_POWER_OFF, 0, 0);
	sys(reboot, REBOOT_MAGIC1, REBOOT_MAGIC2, REBOOT_HALT, 0, 0);
	for (;;)
		sys(ppoll, 0, 0, 0, 0, 0);
}

static __attribute__((noreturn)) void die(const char *why)
{
	say("init: ");
	say(why);
	say(": powering off\n");
	power_off();
}

static void mount_all(void)
{
	u64 sys_flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;

	sys(mount, "proc", "/proc", "proc", sys_flags, 0);
	sys(mount, "sysfs", "/sys", "sysfs", sys_flags, 0);
	sys(mount, "devtmpfs", "/dev", "devtmpfs", MS_NOSUID, 0);
	sys(mount, "tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, 0);
}

/* Writes all of it: a terminal may take less at a time. */
static int put(const u8 *p, long n)
{
	while (n > 0) {
		long r = sys(write, control, p, n, 0, 0);

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
		long r = sys(read, control, p, n, 0, 0);

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

	if (sys(ioctl, fd, TCGETS, &t, 0, 0) < 0)
		return;
	t.iflag = t.oflag = t.lflag = 0;
	t.cflag = CS8 | CREAD | CLOCAL | B115200;
	t.cc[VMIN] = 1;
	t.cc[VTIME] = 0;
	sys(ioctl, fd, TCSETS, &t, 0, 0);
}

/*
 * Finds the channel and says 'R' on it. A kernel may have the device file of a
 * UART that the machine lacks: then writing fails and the next one is tried.
 */
static void open_control(void)
{
	for (int i = 0; channels[i]; i++) {
		control = sys(openat, AT_FDCWD, channels[i], O_RDWR | O_NOCTTY | O_CLOEXEC, 0, 0);
		if (control < 0)
			continue;
		set_raw(control);
		if (send('R', 0) == 0)
			return;
		sys(close, control, 0, 0, 0, 0);
	}
	die("no control channel (second serial port)");
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

static __attribute__((noreturn)) void child(int out, int err, u64 *mask)
{
	int null = sys(openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0, 0);

	sys(dup3, null, 0, 0, 0, 0);
	sys(dup3, out, 1, 0, 0, 0);
	sys(dup3, err, 2, 0, 0, 0);
	sys(rt_sigprocmask, SIG_UNBLOCK, mask, 0, sizeof *mask, 0);
	sys(setsid, 0, 0, 0, 0, 0);
	sys(execve, "/bin/sh", argv0, envp, 0, 0);
	say("init: cannot run /bin/sh\n");
	for (;;)
		sys(exit, 127, 0, 0, 0, 0);
}

/*
 * Passes on what a pipe holds now. Returns 0 at its end, when nobody can write
 * to it any more, and 1 otherwise.
 */
static int pump(int fd, u8 type)
{
	for (;;) {
		long n = sys(read, fd, frame + HEADER, MAX_DATA, 0, 0);

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

	while ((p = sys(wait4, -1, &st, WNOHANG, 0, 0)) > 0)
		if (p == pid) {
			found = 1;
			*status = st & 0x7f ? 128 + (st & 0x7f) : st >> 8 & 0xff;
		}
	return found;
}

/* Runs the command to its end and returns its status. */
static int run(void)
{
	int out[2], err[2], status = 0, ended = 0, open_out = 1, open_err = 1;
	u64 mask = 1UL << (SIGCHLD - 1);
	u8 info[128]; /* struct signalfd_siginfo */
	long pid, signals;

	sys(rt_sigprocmask, SIG_BLOCK, &mask, 0, sizeof mask, 0);
	signals = sys(signalfd4, -1, &mask, sizeof mask, O_CLOEXEC | O_NONBLOCK, 0);
	if (signals < 0 || sys(pipe2, out, O_CLOEXEC, 0, 0, 0) < 0 ||
	    sys(pipe2, err, O_CLOEXEC, 0, 0, 0) < 0)
		die("cannot make pipes");
	sys(fcntl, out[0], F_SETFL, O_NONBLOCK, 0, 0);
	sys(fcntl, err[0], F_SETFL, O_NONBLOCK, 0, 0);

	pid = sys(clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		child(out[1], err[1], &mask);
	if (pid < 0)
		die("cannot fork");
	sys(close, out[1], 0, 0, 0, 0);
	sys(close, err[1], 0, 0, 0, 0);

	/* A descriptor below zero is one that poll leaves alone. */
	while (!ended || open_out || open_err) {
		struct pollfd p[3] = {
			{open_out ? out[0] : -1, POLLIN, 0},
			{open_err ? err[0] : -1, POLLIN, 0},
			{signals, POLLIN, 0},
		};

		sys(ppoll, p, 3, 0, 0, 0);
		if (open_out && p[0].revents)
			open_out = pump(out[0], 'O');
		if (open_err && p[1].revents)
			open_err = pump(err[0], 'E');
		if (p[2].revents) {
			sys(read, signals, info, sizeof info, 0, 0);
			if (reap(pid, &status)) {
				ended = 1;
				sys(kill, -1, SIGKILL, 0, 0, 0);
			}
		}
	}
	return status;
}

__attribute__((noreturn, used)) void init(void)
{
	mount_all();
	open_control();
	read_command();
	frame[HEADER] = run();
	send('S', 1);
	sys(ioctl, control, TCSBRK, 1, 0, 0); /* wait until the bytes are out */
	power_off();
}
