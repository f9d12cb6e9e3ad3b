// Package guestos is what only the guest's operating system knows: which thread runs on
// a CPU, what its kernel stack is, which code a live tracer must leave alone.
//
//	symbols --Of--> System: what is known of all such kernels; linux_system.go, tiny.go, or Bare
//	kernel.Image --Detect--> OS: one guest of it, linux.go, tiny.go, or bare
//
//	at a hit:  registers + guest memory --Thread--> pid, tid, ppid, uid, gid, execname, key
//	                                    --Stack---> pcs, innermost first
//
// Everything is read from guest memory while the guest stands still; nothing runs in it
// and nothing is written. Where the kernel keeps things is found out from the image: its
// symbols, its BTF type information and its ORC unwind tables, each when it is first
// asked for.
package guestos
