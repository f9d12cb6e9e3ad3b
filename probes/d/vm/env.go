package vm

import "trapline/probes/d/code"

// A Probe is what a program can ask of the probe that fired.
type Probe struct {
	ID                       uint32
	Prov, Module, Func, Name string
}

// A Thread is the thread of the guest that ran into a probe.
type Thread struct {
	Key            uint64 // unlike that of every other thread that lives; self-> is kept under it
	PID, TID, PPID int32
	UID, GID       uint32
	Errno          int32  // of its last system call
	Addr           uint64 // of the kernel's structure for it: curthread
	Execname       string
}

// Env is the guest at a firing. It is asked lazily; what it returns is valid until Fire
// returns.
type Env interface {
	Probe() *Probe
	// CPU is the index of the CPU, below Limits.CPUs.
	CPU() int
	// Arg is argument i of the probe, 0 to 9, 0 where it has none.
	Arg(i int) uint64
	// Reg is register i of the architecture's list, anything for one that is not in it.
	Reg(i int) uint64
	// Local is the local variable of the probed function: its address, or what it consists
	// of, valid until the next call. The error names it and says why it has no value.
	Local(name string) (addr uint64, data []byte, err error)
	// Now is the virtual time in ns since the guest's start, VNow the part of it that the
	// current thread has run, Wall the virtual time in ns since 1970-01-01 UTC.
	Now() uint64
	VNow() uint64
	Wall() int64
	// Thread is the current thread. Where the guest's memory does not say, it is nil and
	// bad the address that could not be read.
	Thread() (t *Thread, bad uint64)
	// Caller is the address to which the probed function returns, 0 if unknown.
	Caller() uint64
	// Stack fills pcs with the kernel's program counters, innermost first, and returns how
	// many there are, at most len(pcs).
	Stack(pcs []uint64) int
	// UReg is register i of the process, 0 where it is not known.
	UReg(i int) uint64
	// Execargs is the arguments of the process, a blank between.
	Execargs() (args string, bad uint64, ok bool)
	// UStack is Stack of the process that the thread belongs to: the program counters of
	// its own code.
	UStack(pcs []uint64) int
	// Write stores p in guest memory at addr, like Read.
	Write(addr uint64, p []byte) (bad uint64, ok bool)
	// Progeny says whether the current process is the one with that number or descends
	// from it; bad is as that of Thread.
	Progeny(pid int32) (yes bool, bad uint64, ok bool)
	// Do does at once what an action asks of the guest, with the value of its argument. It
	// reports false where that is not possible.
	Do(a code.Act, n uint64) bool
	// Read fills p with guest memory at addr. Where a byte is not mapped it is not ok and
	// bad the address of that byte.
	Read(addr uint64, p []byte) (bad uint64, ok bool)
}
