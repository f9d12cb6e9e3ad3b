// Package unicorn is a thin binding to libunicorn 2.0.1, and the one place of trapline
// with cgo. It names things as the upstream Go binding does where it has the same thing,
// so that it reads familiar; it is not that binding, because the callback path of that
// one (a global table, a lock and a type assertion for each call) costs more than a
// probe may, and because a whole machine needs more of the library than its API gives.
//
// Unicorn emulates a CPU. What makes it a machine is done by the C files here, which
// take the place of functions of the library (library.c has the list):
//
//	process.c      what is global to the process
//	machine.c      opening an engine, the check of the library, closing
//	library.c      the library's functions, found by their names
//	memory.c       memory of the host
//	run.c          running, and the ways in which a run ends
//	clock.c        the clock: bytes of code executed; the instants for interrupts
//	charge.c       the clock in translated code
//	codebuf.c      the buffer of translated code
//	host.c         what depends on the host (host.h)
//	kept.c         translations that are kept from one process to the next
//	kept_sound.c   whether one that was read can be used
//	kept_make.c    which of their values name places of the process
//	state.c        what of a CPU's state is the guest's, and goes into a snapshot
//	journal.c      what comes to the guest besides its instructions
//	coherence.c    what several engines of one machine know of each other's code
//	tlb.c          the two views of a page of text, stores at full speed
//	mmio.c         devices in memory
//	breaks.c       breakpoints and the pages that hold them
//	slots.c        where trampolines lie, and whose they are
//	hit.c          a breakpoint that was executed, and the way on
//	defer.c        hits that are delivered later
//	hooks.c        the code hook: another way to fire, and to count
//	emulate.c      what the machine does for a displaced instruction
//	stepper.c      one instruction at a time
//
// What they share is in shim.h: a CPU and a machine, made of parts. A part is declared in the header
// of the file that writes it, and no other file writes it.
//
// What differs between guest architectures is a value, struct tl_target (target.h). Each has
//
//	ARCH_cpu.c     private state found and checked, entry state, the tl_target
//	ARCH_state.c   which parts of its state are the guest's
//	ARCH_trap.c    exceptions, interrupts, halting, firmware
//	ARCH_regs.go   the registers
//
// some of them besides
//
//	amd64_apic.c   the local APIC
//	amd64_insn.c   instructions by which a guest could end the process
//	amd64_tlb.c    page tables
//	arm64_smp.c    what CPUs do to each other without an interrupt
//	riscv64_csr.c  control registers that are devices, or mask interrupts
//	riscv64_tcg.c  what the library translates wrong
//
// and replaces the library's functions of its own suffix (replaced.h).
//
// mmap64, gettimeofday and qemu_clock_get_ns are replaced too (codebuf.c), and not for the library
// alone: a C function anywhere in the process calls ours. Outside of a machine they do what they
// always do, but for qemu_clock_get_ns, which is the library's. While a guest runs, gettimeofday
// gives the thread that runs it the guest's time.
//
// The C side decides, Go hears of what remains: a probe that was hit, an event that is
// due, a device register. A Go function called from C returns before anything there
// leaves by longjmp.
package unicorn
