/*
 * What FreeBSD's kernels and programs agree on (sys/syscall.h, sys/fcntl.h, sys/mount.h,
 * sys/ttycom.h, sys/termios.h, sys/event.h, sys/reboot.h): the same on all
 * architectures with 64 bits.
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;

enum {
	SYS_exit = 1,
	SYS_fork = 2,
	SYS_read = 3,
	SYS_write = 4,
	SYS_close = 6,
	SYS_wait4 = 7,
	SYS_kill = 37,
	SYS_ioctl = 54,
	SYS_reboot = 55,
	SYS_execve = 59,
	SYS_dup2 = 90,
	SYS_fcntl = 92,
	SYS_setsid = 147,
	SYS_poll = 209,
	SYS_kqueue = 362,
	SYS_nmount = 378,
	SYS_openat = 499,
	SYS_pipe2 = 542,
	SYS_kevent = 560,
	SYS_sysctlbyname = 570,
};

enum {
	EINTR = 4, EAGAIN = 35,
	AT_FDCWD = -100,
	O_RDONLY = 0, O_RDWR = 2, O_NONBLOCK = 4, O_CLOEXEC = 0x100000,
	F_SETFL = 4,
	MNT_UPDATE = 0x10000,
	POLLIN = 1,
	WNOHANG = 1,
	SIGKILL = 9,
	EVFILT_PROC = -5, EV_ADD = 1,
	CS8 = 0x300, CREAD = 0x800, CLOCAL = 0x8000, VMIN = 16, VTIME = 17,
	REBOOT_NOSYNC = 0x4, REBOOT_HALT = 0x8, REBOOT_POWER_OFF = 0x4008,
};

#define NOTE_EXIT 0x80000000u
#define TIOCGETA 0x402c7413ul
#define TIOCSETA 0x802c7414ul
#define TIOCDRAIN 0x2000745eul

struct iovec {
	const void *base;
	u64 size;
};

struct pollfd {
	int fd;
	short events, revents;
};

struct termios {
	u32 iflag, oflag, cflag, lflag;
	u8 cc[20];
	u32 ispeed, ospeed;
};

struct kevent {
	u64 ident;
	short filter;
	u16 flags;
	u32 fflags;
	long data;
	void *udata;
	u64 ext[4];
};
