/*
 * System call numbers of the architectures that took Linux's common table
 * (include/uapi/asm-generic/unistd.h).
 */
enum {
	SYS_dup3 = 24,
	SYS_fcntl = 25,
	SYS_ioctl = 29,
	SYS_mount = 40,
	SYS_openat = 56,
	SYS_close = 57,
	SYS_pipe2 = 59,
	SYS_read = 63,
	SYS_write = 64,
	SYS_ppoll = 73,
	SYS_signalfd4 = 74,
	SYS_sync = 81,
	SYS_exit = 93,
	SYS_kill = 129,
	SYS_rt_sigprocmask = 135,
	SYS_reboot = 142,
	SYS_setsid = 157,
	SYS_clone = 220,
	SYS_execve = 221,
	SYS_wait4 = 260,
};
