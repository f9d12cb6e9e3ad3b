/*
 * uapi.h: what the kernel and its user programs agree on: numbers of system
 * calls, error numbers, and the structures that cross the border.
 * A system call returns a result >= 0, or an error number negated.
 */
#pragma once

#include "types.h"

enum {
	SYS_EXIT,     /* (status): ends the thread, with the last one the process */
	SYS_FORK,     /* (): pid of the child, 0 in the child */
	SYS_WAIT,     /* (int *status): pid of a child that has ended */
	SYS_READ,     /* (fd, buf, n): bytes read, 0 at the end */
	SYS_WRITE,    /* (fd, buf, n): bytes written */
	SYS_GETPID,   /* (): pid of the process */
	SYS_YIELD,    /* (): lets the next thread run */
	SYS_SLEEP,    /* (ms) */
	SYS_BRK,      /* (addr): sets the end of the heap; 0 asks for it */
	SYS_PIPE,     /* (int fds[2]): read end, write end */
	SYS_DUP,      /* (from, to): to is closed first */
	SYS_CLOSE,    /* (fd) */
	SYS_THREAD,   /* (entry, stack, arg): tid of a new thread of this process */
	SYS_SETNAME,  /* (name): the name that ps and a tracer show */
	SYS_THREADS,  /* (index, struct thread_info *): 0 when past the last */
	SYS_UNAME,    /* (buf, n): bytes of the banner copied, with the final 0 */
	SYS_CHECK,    /* (group, index, struct check_info *): runs one check */
	SYS_POWER,    /* (how): POWER_... */
	SYS_PROBE,    /* (n): fires the static probes of probe.c */
	SYS_RACE,     /* (which): what is missing at the end of a race of race.c */
	SYS_COUNT
};

enum {
	EINTR = 4,
	EBADF = 9,
	ECHILD = 10,
	EAGAIN = 11,
	ENOMEM = 12,
	EFAULT = 14,
	ENODEV = 19,
	EINVAL = 22,
	EPIPE = 32,
	ENOSYS = 38,
};

/* Signals do not exist here, but a killed process has 128 + the number. */
enum {
	SIGILL = 4,
	SIGTRAP = 5,
	SIGFPE = 8,
	SIGSEGV = 11,
};

enum { POWER_PANIC, POWER_HANG, POWER_REBOOT, POWER_TRIPLE };

enum { RACE_COUNT, RACE_SESSION, RACE_TRANSFER, RACES };

enum { CHECK_AWKWARD, CHECK_SHAPES, CHECK_GROUPS };

struct check_info {
	char name[28];
	s32 failed; /* 0, or which step of the check went wrong */
};

struct thread_info {
	s32 pid, tid, ppid;
	u32 uid;
	char state; /* R running or runnable, S sleeping, Z dead */
	char name[16];
};

/* The user image begins with this header; see user.ld. */
struct user_header {
	u64 magic;    /* USER_MAGIC */
	u64 entry;    /* called with the command line in the first argument */
	u64 text_end; /* before it: shared, read-only, executable */
	u64 data_end; /* before it: private copies, writable */
	u64 bss_end;  /* before it: zero; the heap begins here */
};

#define USER_MAGIC 0x52455355594e4954ul /* "TINYUSER" */
#define USER_BASE 0x400000ul
#define USER_HEAP_END 0x10000000ul
#include "layout.h" /* USER_STACK_TOP */
#define USER_STACK_SIZE 0x40000ul
