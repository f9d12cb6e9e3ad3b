// Package trampoline decides how an instruction that a breakpoint has displaced is run,
// and writes the code that runs it.
//
// A probe's breakpoint covers the first bytes of an instruction, which must still have its
// effect. So it runs somewhere else: in the probe's slot, a few bytes of guest memory that
// the breakpoint's handler goes to, and that end in a jump back behind the probe.
//
//	pc      cc .. .. ..    the breakpoint over mov 0x10(%rip),%rax
//	pc+len  ..        <-----------------------------.
//	                                                |
//	slot    mov 0x10+pc-slot(%rip),%rax             |
//	        jmp pc+len -----------------------------'
//	        cc cc cc ...
//
// Four things can happen to it ([Kind]). Most instructions are copied. One that names
// an address relative to itself is relocated: rewritten, so that it names the same address
// from the slot. One that saves its own address is emulated by others: a call becomes
// a push of the return address in the original code and a jump. One that cannot be had
// right is refused, with a reason in plain words. A breakpoint of the guest's own is none
// of these: nothing is displaced, the trap is the guest's.
//
// On arm64 and riscv64 a slot ends in a second breakpoint instead of a jump, which does not
// reach from there, and has no room for more than the instruction. What names or saves its
// own address is emulated by the machine, which is given an [arch.Emulation] when the
// breakpoint is planted: it decodes nothing either. A load of a literal runs in the slot
// through a register that the machine lends to it.
//
// What holds throughout: the guest never sees an address of a slot. It is in no register,
// in no memory, and whoever delivers exceptions reports one that was raised at slot
// at pc, and any other at pc+len.
//
// What an instruction is, package insn knows; here is what becomes of it. An architecture is one
// [ISA] value. A [Plan] is made once, when a probe is created;
// firing decodes nothing. Everything here is a pure function over bytes, except [Slots],
// which keeps account of the slots.
package trampoline
