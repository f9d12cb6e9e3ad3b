//go:build amd64

package sandbox

import "golang.org/x/sys/unix"

// architecture is what the kernel calls the numbering of system calls here (linux/audit.h).
const architecture = unix.AUDIT_ARCH_X86_64

// olderCalls are those of harmlessCalls that later architectures do without.
var olderCalls = []uint32{
	unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK, unix.SYS_RENAME, unix.SYS_UNLINK,
	unix.SYS_POLL, unix.SYS_EPOLL_WAIT, unix.SYS_PAUSE, unix.SYS_GETPGRP, unix.SYS_TIME,
}

// olderDangerous are those of dangerous.
var olderDangerous = []uint32{unix.SYS_MKNOD, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT}
