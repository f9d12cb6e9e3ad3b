/*
 * What the kernel's ABI calls by the same number on every architecture that we
 * have or plan: constants and structures. System call numbers are in <arch>.h.
 */
#ifndef GENERIC_H
#define GENERIC_H

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;

enum { EINTR = 4, EAGAIN = 11 };

enum { AT_FDCWD = -100 };
enum { O_RDONLY = 0, O_RDWR = 2, O_NOCTTY = 0400, O_NONBLOCK = 04000, O_CLOEXEC = 02000000 };
enum { F_SETFL = 4 };
enum { MS_NOSUID = 2, MS_NODEV = 4, MS_NOEXEC = 8 };

enum { SIGKILL = 9, SIGCHLD = 17 };
enum { SIG_BLOCK = 0, SIG_UNBLOCK = 1 };
enum { WNOHANG = 1 };

enum { POLLIN = 1 };
struct pollfd {
	int fd;
	short events, revents;
};

/* Terminals: termbits.h and ioctls.h. */
enum { TCGETS = 0x5401, TCSETS = 0x5402, TCSBRK = 0x5409 };
enum { CS8 = 060, CREAD = 0200, CLOCAL = 04000, B115200 = 010002 };
enum { VTIME = 5, VMIN = 6 };
struct termios {
	u32 iflag, oflag, cflag, lflag;
	u8 line, cc[19];
};

/* reboot(2). */
#define REBOOT_MAGIC1 0xfee1deadUL
#define REBOOT_MAGIC2 0x28121969UL
#define REBOOT_HALT 0xcdef0123UL
#define REBOOT_POWER_OFF 0x4321fedcUL

#endif
