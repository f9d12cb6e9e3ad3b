//go:build arm64

package sandbox

import "golang.org/x/sys/unix"

// architecture is what the kernel calls the numbering of system calls here (linux/audit.h).
const architecture = unix.AUDIT_ARCH_AARCH64

// There are no older system calls here.
var olderCalls, olderDangerous []uint32
