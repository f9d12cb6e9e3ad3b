package trampoline

// A Kind is the way in which an instruction is displaced.
type Kind uint8

const (
	// Refuse: it cannot be displaced; Plan.Reason says why.
	Refuse Kind = iota
	// Copy: it runs in the slot as it is.
	Copy
	// Relocate: it runs in the slot, rewritten to refer to the same addresses.
	Relocate
	// Emulate: others have its effect: instructions in the slot, or the machine (ISA.Do).
	Emulate
	// Guest: it is a breakpoint of the guest's own. There is nothing to displace; the
	// trap is to be delivered to the guest after the probe has fired.
	Guest
)

var kindNames = [...]string{"refuse", "copy", "relocate", "emulate", "guest"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// A Plan is how one instruction is displaced: a small value (8 bytes), decided when a probe
// is made. The zero Plan refuses.
type Plan struct {
	Kind Kind
	// Len is the number of bytes of the instruction in place; 0 if it is not known.
	Len uint8

	form   form   // what Encode writes
	reason reason // why it is refused
	at     uint8  // offset of the opcode: how many bytes of prefixes there are
	modrm  uint8  // offset of ModR/M
	disp   uint8  // offset of the displacement that is rewritten
}

// Reason says in plain words why the instruction is refused; it is "" if it is not.
func (p Plan) Reason() string {
	if p.Kind != Refuse {
		return ""
	}
	return reasonTexts[p.reason]
}

// InSlot reports whether something runs in a slot: ISA.Encode writes it.
func (p Plan) InSlot() bool { return p.Kind != Refuse && p.Kind != Guest && p.form != formDo }

// A form is a kind of trampoline; each architecture has its own.
type form uint8

// formDo: without a trampoline, the machine does all of it (ISA.Do).
const formDo form = 0xff

// A reason is why an instruction is refused.
type reason uint8

const (
	reasonNone reason = iota
	reasonTruncated
	reasonUndefined
	reasonTooLong
	reasonSoftwareInterrupt
	reasonSyscall
	reasonFarCall
	reasonX87
	reasonNarrowBranch
	reasonEIPRelative
	reasonReturnAddress
	reasonNoRoom
	reasonOwnAddress
	reasonUnknownBranch
	reasonLinkRegister
)

var reasonTexts = [...]string{
	reasonNone:              "no plan was made for it",
	reasonTruncated:         "its bytes end before the instruction does",
	reasonUndefined:         "its bytes are not an instruction",
	reasonTooLong:           "its bytes make an instruction longer than 15 bytes",
	reasonSoftwareInterrupt: "a software interrupt saves the address of the next instruction, which would be the trampoline's",
	reasonSyscall:           "syscall leaves the address of the next instruction in RCX, which would be the trampoline's",
	reasonFarCall:           "a far call pushes CS and the address of the next instruction, which would be the trampoline's",
	reasonX87:               "the x87 unit keeps the address of its last instruction, which would be the trampoline's",
	reasonNarrowBranch:      "processors disagree on what a branch with a 16-bit operand size does",
	reasonEIPRelative:       "it uses an address relative to EIP: cut to 32 bits, the same address cannot be named from a trampoline",
	reasonReturnAddress:     "its return address is outside of the lowest and highest 2 GiB, so a trampoline cannot push it",
	reasonNoRoom:            "it has so many prefixes, or so large a displacement, that the rewritten instruction would be invalid",
	reasonOwnAddress:        "it signs its own address, which would be the trampoline's",
	reasonUnknownBranch:     "it is a branch of an extension that is newer than this program",
	reasonLinkRegister:      "an authenticated call through the link register: in a trampoline that has changed before the jump",
}
