package sandbox

import (
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// newest is the last system call that was known when the lists were made. Later ones are said not
// to be there.
const newest = unix.SYS_LANDLOCK_RESTRICT_SELF

// Flags of clone(2).
const (
	threadFlags = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD
	harmless    = unix.CLONE_SYSVSEM | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID |
		unix.CLONE_CHILD_CLEARTID | unix.CLONE_CHILD_SETTID | unix.CLONE_DETACHED
	namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
)

// harmlessCalls are about the process's own memory, threads, timers and signals, and about files, of
// which Landlock decides. Names of files that other rights go with (links, devices, modes, owners,
// extended attributes) are not among them.
var harmlessCalls = []uint32{
	unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGPROCMASK,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_EPOLL_PWAIT,
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_READ, unix.SYS_WRITE,
	unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREADV, unix.SYS_PWRITEV,
	unix.SYS_LSEEK, unix.SYS_CLOSE, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE,
	unix.SYS_COPY_FILE_RANGE, unix.SYS_SENDFILE, unix.SYS_SPLICE, unix.SYS_FLOCK, unix.SYS_FADVISE64,
	unix.SYS_OPENAT, unix.SYS_NEWFSTATAT, unix.SYS_FSTAT, unix.SYS_STATX,
	unix.SYS_STATFS, unix.SYS_FSTATFS, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2,
	unix.SYS_READLINKAT, unix.SYS_GETDENTS64, unix.SYS_GETCWD,
	unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2,
	unix.SYS_UTIMENSAT, unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_PIPE2, unix.SYS_EVENTFD2,
	unix.SYS_PPOLL, unix.SYS_PSELECT6, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL,
	unix.SYS_BRK, unix.SYS_MREMAP, unix.SYS_MINCORE, unix.SYS_MSYNC, unix.SYS_MEMBARRIER,
	unix.SYS_RT_SIGACTION, unix.SYS_SIGALTSTACK, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_RESTART_SYSCALL,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_SET_TID_ADDRESS, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
	unix.SYS_SETITIMER, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE,
	unix.SYS_GETTIMEOFDAY, unix.SYS_CLOCK_GETRES, unix.SYS_TIMES,
	unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETPPID,
	unix.SYS_GETRUSAGE, unix.SYS_GETRLIMIT, unix.SYS_GETRANDOM, unix.SYS_GETCPU, unix.SYS_SCHED_GETAFFINITY,
	unix.SYS_UNAME, unix.SYS_SYSINFO,
}

// ours are the system calls of a process that runs no programs. All others are refused.
func ours(pid uint32) []rule {
	return slices.Concat(
		each(allowed, harmlessCalls),
		each(allowed, olderCalls),
		[]rule{
			{unix.SYS_CLONE, threadsOnly},
			{unix.SYS_CLONE3, []bpf.Instruction{unknown}}, // its flags are out of sight; C libraries use clone then
			{unix.SYS_TGKILL, among(0, allow, refuse, pid)},
			{unix.SYS_KILL, among(0, allow, refuse, pid)},
			{unix.SYS_PRLIMIT64, among(0, allow, refuse, 0, pid)},
			{unix.SYS_PRCTL, among(0, allow, refuse, unix.PR_SET_VMA, unix.PR_SET_NAME, unix.PR_GET_NAME)},
			{unix.SYS_FCNTL, among(1, allow, refuse, unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD,
				unix.F_GETFL, unix.F_SETFL, unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW)}, // no F_SETOWN: it sends signals
			{unix.SYS_IOCTL, among(1, allow, refuse, unix.TCGETS, unix.TIOCGWINSZ, unix.TIOCGPGRP, unix.TIOCINQ)},
		},
	)
}

// threadsOnly lets clone make threads of this process, without a namespace of their own.
var threadsOnly = []bpf.Instruction{
	argument(0),
	bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: ^uint32(harmless)},
	bpf.JumpIf{Cond: bpf.JumpEqual, Val: threadFlags, SkipFalse: 1},
	allow,
	refuse,
}

// sameNamespaces lets clone make processes, without a namespace of their own.
var sameNamespaces = []bpf.Instruction{
	argument(0),
	bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: namespaces, SkipFalse: 1},
	refuse,
	allow,
}

// dangerous are calls by which a program gets at other processes, at the kernel, or at what is
// behind a socket.
var dangerous = []uint32{
	unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MKNODAT,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_QUOTACTL,
	unix.SYS_SETUID, unix.SYS_SETGID, unix.SYS_SETREUID, unix.SYS_SETREGID, unix.SYS_SETRESUID, unix.SYS_SETRESGID,
	unix.SYS_SETFSUID, unix.SYS_SETFSGID, unix.SYS_SETGROUPS, unix.SYS_CAPSET,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_PERSONALITY,
}

// theirs are the system calls that are refused to a process that runs programs, and to these. What
// programs need is not known, so all others are allowed.
func theirs() []rule {
	return slices.Concat(
		[]rule{
			{unix.SYS_CLONE, sameNamespaces},
			{unix.SYS_CLONE3, []bpf.Instruction{unknown}},
			{unix.SYS_IOCTL, among(1, refuse, allow, unix.TIOCSTI, unix.TIOCLINUX)},
		},
		each(refused, dangerous),
		each(refused, olderDangerous),
	)
}
