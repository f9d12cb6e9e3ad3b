package unicorn

/*
#cgo CFLAGS: -O2 -Wall -Wextra -Wno-unused-parameter -I${SRCDIR}/../../../lib/trapline/include
#cgo LDFLAGS: -L${SRCDIR}/../../../lib/trapline -l:libunicorn.so.2 -ldl -lpthread -Wl,-rpath,$ORIGIN/../lib/trapline
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"trapline/kernel/arch"
)

// Advice says what to do about a library that cannot be used.
const Advice = "trapline has a libunicorn 2.0.1 of its own: unset LD_LIBRARY_PATH and LD_PRELOAD, or install trapline anew"

// ErrBusy is returned by Open while another engine is open: the functions that take the
// place of the library's are global to the process.
var ErrBusy = errors.New("another machine is open in this process")

// Handler is what the engine calls while a guest runs. No method may panic, and none may
// run the engine.
type Handler interface {
	// Deadline is called when the clock has reached the deadline, at an instant an
	// interrupt could be taken. It sets the next deadline.
	Deadline()
	// Idle is called when the guest waits for an interrupt. It moves the clock on to the
	// event that raises one and returns Woken. Otherwise the run ends: Hung if none will
	// come, Stopped if it was to stop, Parked if other CPUs may run meanwhile; then the CPU
	// has executed its waiting instruction, and what runs it again has seen to the interrupt.
	Idle() End
	// Hit is called at a breakpoint, before the displaced instruction.
	Hit(addr uint64)
	// Deferred is called for hits of breakpoints that DeferHits has made, in their order. The
	// guest has gone on since: only h has its state.
	Deferred(h *DeferredHit)
	// Rewrite is called when the guest has stored to the page of text at va.
	Rewrite(va uint64)
	Devices
}

// Devices are what a CPU reaches besides memory.
type Devices interface {
	// Ack returns the vector of the interrupt that is being taken.
	Ack() int
	// In and Out are accesses to ports (amd64) of 1, 2 or 4 bytes.
	In(port uint16, size int) uint32
	Out(port uint16, size int, value uint32)
	// Load and Store are accesses of 1, 2 or 4 bytes to a physical address that is not RAM.
	Load(pa uint64, size int) uint64
	Store(pa uint64, size int, value uint64)
	// Call is a call of the firmware: SBI on riscv64, PSCI on arm64. Arguments and
	// results are in registers.
	Call()
	// ReadSystem and WriteSystem are accesses to system registers that are devices: the
	// timers of arm64 (reg is op0, op1, CRn, CRm, op2 in the fields of an MRS), and that of
	// riscv64's supervisor (reg is the number of the CSR).
	ReadSystem(reg uint32) uint64
	WriteSystem(reg uint32, value uint64)
}

// registers are those of an architecture, in the library's state.
type registers interface {
	Reg(arch.Reg) uint64
	SetReg(arch.Reg, uint64)
	User() bool
	// place and mode are as Engine.Place and Engine.Mode have them.
	place(arch.Reg) (at *uint64, mask uint64)
	mode() (at *uint64, mask uint64)
}

// architectures has what makes the registers of an engine of each architecture.
var architectures arch.Table[func(*Engine) registers]

// Engine is one CPU of the library with the memory of a machine. Memory, breakpoints and Stop
// are the machine's: any of its engines will do.
type Engine struct {
	registers
	c        *C.struct_tl_cpu
	arch     *arch.Arch
	handler  Handler
	ram      []byte
	running  bool
	deferral *deferral         // of the machine
	like     C.struct_tl_break // of SetBreak, which is called a million times
	// stopping is held by Stop, which may come from anywhere, and by Close.
	stopping *sync.Mutex
}

// MaxCPUs is how many a machine can have.
const MaxCPUs = C.TL_CPUS

// The engines that callbacks find by their ids.
var (
	mu      sync.Mutex
	engines [MaxCPUs]*Engine
)

// Check returns an error if the host's C library is too old, or the emulator library that the
// process has loaded is not one that works. It opens no engine.
func Check() error { return check(nil) }

// check is Check for guests of one architecture, nil for all.
func check(target *C.struct_tl_target) error {
	if version := C.tl_libc_check(); version != nil {
		return fmt.Errorf("this host's C library is too old: glibc %s (want 2.31 or later, as Debian 11 and Ubuntu 20.04 have it)", C.GoString(version))
	}
	return unusable(C.tl_library_check(target))
}

func unusable(why *C.char) error {
	if why == nil {
		return nil
	}
	return fmt.Errorf("the emulator library %s cannot be used: %s; %s", C.GoString(C.tl_library_file()), C.GoString(why), Advice)
}

// Version of the library, as "2.0.1".
func Version() string {
	v := uint32(C.tl_library_version())
	return fmt.Sprintf("%d.%d.%d", v>>24, v>>16&255, v>>8&255)
}

// Supported reports whether there is an engine for a.
func Supported(a *arch.Arch) bool {
	_, ok := architectures.Of(a)
	return ok
}

// Open makes an engine for guests of a with memory bytes of RAM, a multiple of the page
// size up to 4 GiB, and codeBuffer bytes for translated code. It refuses a library that it
// does not know.
func Open(a *arch.Arch, memory, codeBuffer uint64, h Handler) (*Engine, error) {
	name := C.CString(a.Name)
	defer C.free(unsafe.Pointer(name))
	target := C.tl_target(name)
	if target == nil || !Supported(a) {
		return nil, fmt.Errorf("no engine for %s guests", a)
	}
	if err := check(target); err != nil {
		return nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	if engines[0] != nil {
		return nil, ErrBusy
	}
	var why *C.char
	c := C.tl_open(target, C.uint64_t(memory), C.uint64_t(codeBuffer), &why)
	if c == nil {
		return nil, unusable(why)
	}
	return newEngine(c, a, h, new(sync.Mutex), new(deferral)), nil
}

func newEngine(c *C.struct_tl_cpu, a *arch.Arch, h Handler, stopping *sync.Mutex, d *deferral) *Engine {
	e := &Engine{c: c, arch: a, handler: h, stopping: stopping, deferral: d}
	newRegisters, _ := architectures.Of(a)
	e.registers = newRegisters(e)
	e.ram = unsafe.Slice((*byte)(c.m.ram), c.m.ram_size)
	engines[c.id] = e
	return e
}

// Another makes another CPU of the machine, up to MaxCPUs, with the same handler and code
// buffer bytes of its own. Only before a run and before breakpoints.
func (e *Engine) Another(codeBuffer uint64) (*Engine, error) {
	mu.Lock()
	defer mu.Unlock()
	if e.c.m.ncpus == MaxCPUs {
		return nil, fmt.Errorf("there are %d CPUs, and no more can be had", MaxCPUs)
	}
	var why *C.char
	c := C.tl_open_another(e.c.m, C.uint64_t(codeBuffer), &why)
	if c == nil {
		return nil, unusable(why)
	}
	return newEngine(c, e.arch, e.handler, e.stopping, e.deferral), nil
}

// ID is the number of this CPU, from 0 on.
func (e *Engine) ID() int { return int(e.c.id) }

// SetHandler replaces the handler. Only between runs.
func (e *Engine) SetHandler(h Handler) { e.handler = h }

// Close frees the machine: its engines and their memory. Closing it again does nothing.
func (e *Engine) Close() {
	mu.Lock()
	defer mu.Unlock()
	e.stopping.Lock()
	defer e.stopping.Unlock()
	if e.c == nil {
		return
	}
	C.tl_close(e.c.m)
	for i, other := range engines {
		if other != nil {
			other.c, other.ram = nil, nil
			engines[i] = nil
		}
	}
}

// RAMBase is the physical address of RAM.
func (e *Engine) RAMBase() uint64 { return uint64(e.c.m.ram_base) }

// RAM is guest memory from RAMBase on. A store to code that the guest has run is
// not noticed: use Store.
func (e *Engine) RAM() []byte { return e.ram }

// Store stores p at an offset in RAM, in one page, as the guest itself would: what was
// translated from there is dropped, breakpoints stay.
func (e *Engine) Store(at uint64, p []byte) {
	C.tl_before_store(e.c, C.uint64_t(at))
	n := copy(e.ram[at:], p)
	C.tl_after_store(e.c, C.uint64_t(at), C.uint64_t(n))
}

// Flush forgets all translated addresses and code. Only between runs.
func (e *Engine) Flush() { C.tl_flush(e.c) }

// FlushTLB forgets all translated addresses. Not in the middle of a block: between runs, or
// in a Call.
func (e *Engine) FlushTLB() { C.tl_flush_tlb(e.c) }

// unclock takes the clock away, so that what it costs can be measured. Only before a run.
func (e *Engine) unclock() { C.tl_charge_off(&e.c.charge) }

// Counters of what happened so far.
type Counters struct {
	Interrupts, Exceptions, Syscalls uint64
	Hits                             uint64 // of breakpoints
	SlotFaults                       uint64 // faults of displaced instructions
	Resyncs                          uint64 // pages of text brought up to date
	Flushes                          uint64 // of the code buffer
}

// Counters returns the counts so far.
func (e *Engine) Counters() Counters {
	c := e.c
	return Counters{
		Interrupts: uint64(c.counts.interrupts), Exceptions: uint64(c.counts.exceptions), Syscalls: uint64(c.counts.syscalls),
		Hits: uint64(c.hit.hits), SlotFaults: uint64(c.hit.slot_faults), Resyncs: uint64(c.hit.resyncs),
		Flushes: uint64(c.buffer.flushes),
	}
}

// Add returns the sums of c and d.
func (c Counters) Add(d Counters) Counters {
	return Counters{
		c.Interrupts + d.Interrupts, c.Exceptions + d.Exceptions, c.Syscalls + d.Syscalls,
		c.Hits + d.Hits, c.SlotFaults + d.SlotFaults, c.Resyncs + d.Resyncs, c.Flushes + d.Flushes,
	}
}
