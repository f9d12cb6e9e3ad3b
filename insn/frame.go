package insn

// A Frame is what an instruction does for the stack frame of its function, as compilers write
// prologues and epilogues.
type Frame struct {
	Grows      bool // makes room on the stack
	SavesFP    bool // stores the caller's frame pointer
	SetsFP     bool // makes the frame pointer the function's own
	RestoresFP bool // gives the caller its frame pointer back: an epilogue has begun
	StoresLink bool // stores the register with the return address
	LoadsLink  bool // loads that register, from LinkAt bytes above the stack pointer
	LinkAt     uint64
}

// A Class is a group of instructions that a tracer may treat in a way of its own.
type Class uint8

const (
	// Ordinary is every instruction that is in no other class.
	Ordinary Class = iota
	// Breakpoint raises the exception of a breakpoint.
	Breakpoint
	// Nop is the architecture's own nop.
	Nop
	// Landing marks where an indirect branch may go.
	Landing
	// Address computes an address relative to its own.
	Address
	// LoadExclusive begins a sequence that a StoreExclusive ends.
	LoadExclusive
	// StoreExclusive stores if nobody else has since the LoadExclusive.
	StoreExclusive
	// PopFlags loads the flags, the interrupt mask among them, from the stack.
	PopFlags
	// EnableInterrupts clears the interrupt mask.
	EnableInterrupts
	// System reads or changes the state of the processor, or leaves it for another.
	System
)
