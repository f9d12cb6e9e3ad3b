package device

import (
	"io"
	"slices"
)

// A PLIC is a RISC-V platform-level interrupt controller (RISC-V PLIC specification 1.0.0). Its
// gateways are those of QEMU's virt machine: an input becomes pending when a device reports a high
// line, and a claim or a low line ends that. A line that merely stays high over the completion is not
// pending again; kernels that never acknowledge their UART rely on it. A device reports its line after
// each access that may concern it, so no interrupt is lost. Each context, a mode of a hart, has its own set of
// enabled inputs, its own threshold and its own line to the CPU.
//
//	inputs 1..95 --gateway--> pending --enabled, above the threshold--> line of a context
//	                ^                                                      |
//	                '------------ complete <--- claim <--------------------'
type PLIC struct {
	out []Line
	plicRegs
	enable    [][plicWords]uint32 // by context
	threshold []uint8
}

// PLICInputs is the number of inputs of QEMU's virt machine; 0 is none of them.
const (
	PLICInputs = 96
	plicWords  = PLICInputs / 32
)

type plicRegs struct {
	Priority [PLICInputs]uint8
	Raised   [plicWords]uint32 // inputs reported as high, and not claimed since
	Claimed  [plicWords]uint32 // by a context, and not completed
}

const plicPriorities = 7 // the highest

// NewPLIC makes a controller that drives the lines of its contexts: the machine's and the
// supervisor's of the first hart, then those of the next.
func NewPLIC(contexts ...Line) *PLIC {
	return &PLIC{out: contexts, enable: make([][plicWords]uint32, len(contexts)), threshold: make([]uint8, len(contexts))}
}

// Line is input n, 1 to 95, for a device to drive.
func (p *PLIC) Line(n int) Line { return plicLine{p, n} }

type plicLine struct {
	p *PLIC
	n int
}

func (l plicLine) Set(high bool) {
	set(l.p.Raised[:], l.n, high)
	l.p.update()
}

func set(words []uint32, n int, high bool) {
	words[n/32] &^= 1 << (n % 32)
	if high {
		words[n/32] |= 1 << (n % 32)
	}
}

// ready returns the inputs of a word that a context can claim.
func (p *PLIC) ready(word int) uint32 { return p.Raised[word] &^ p.Claimed[word] }

// best is the pending input of highest priority that context may see, the lowest number
// first, or 0.
func (p *PLIC) best(context int) int {
	best, priority := 0, p.threshold[context]
	for n := 1; n < PLICInputs; n++ {
		if (p.ready(n/32)&p.enable[context][n/32])>>(n%32)&1 != 0 && p.Priority[n] > priority {
			best, priority = n, p.Priority[n]
		}
	}
	return best
}

func (p *PLIC) update() {
	for i, l := range p.out {
		l.Set(p.best(i) != 0)
	}
}

// The register map: ranges of words, those of contexts with a stride.
const (
	plicPending = 0x1000
	plicEnable  = 0x2000
	plicContext = 0x200000

	plicEnableStride  = 0x80
	plicContextStride = 0x1000
)

// PLICSize is the controller's range of addresses in bytes.
const PLICSize = 0x600000

// Registers are the controller's registers in memory.
func (p *PLIC) Registers() Mem { return plicMem{p} }

type plicMem struct{ p *PLIC }

// Load reads a register.
func (m plicMem) Load(offset uint64, _ int) uint32 {
	p := m.p
	n := int(offset / 4)
	context := int((offset - plicEnable) / plicEnableStride)
	switch {
	case n < PLICInputs:
		return uint32(p.Priority[n])
	case offset >= plicContext:
		return p.loadContext(offset - plicContext)
	case offset >= plicEnable:
		if word := int(offset % plicEnableStride / 4); context < len(p.out) && word < plicWords {
			return p.enable[context][word]
		}
	case offset >= plicPending:
		if word := n - plicPending/4; word < plicWords {
			return p.Raised[word]
		}
	}
	return 0
}

func (p *PLIC) loadContext(offset uint64) uint32 {
	context := int(offset / plicContextStride)
	if context >= len(p.out) {
		return 0
	}
	switch offset % plicContextStride {
	case 0:
		return uint32(p.threshold[context])
	case 4:
		return uint32(p.claim(context))
	}
	return 0
}

// claim takes the best input for a context. After its completion the input can be claimed again if its
// device has reported a high line since this claim.
func (p *PLIC) claim(context int) int {
	n := p.best(context)
	if n != 0 {
		set(p.Raised[:], n, false)
		set(p.Claimed[:], n, true)
		p.update()
	}
	return n
}

// Store writes a register.
func (m plicMem) Store(offset uint64, _ int, v uint32) {
	p := m.p
	n := int(offset / 4)
	context := int((offset - plicEnable) / plicEnableStride)
	switch {
	case n > 0 && n < PLICInputs:
		p.Priority[n] = uint8(v & plicPriorities)
	case offset >= plicContext:
		p.storeContext(offset-plicContext, v)
	case offset >= plicEnable:
		if word := int(offset % plicEnableStride / 4); context < len(p.out) && word < plicWords {
			p.enable[context][word] = v
		}
	}
	p.update()
}

func (p *PLIC) storeContext(offset uint64, v uint32) {
	context := int(offset / plicContextStride)
	if context >= len(p.out) {
		return
	}
	switch offset % plicContextStride {
	case 0:
		p.threshold[context] = uint8(v & plicPriorities)
	case 4:
		if v < PLICInputs && p.enable[context][v/32]>>(v%32)&1 != 0 {
			set(p.Claimed[:], int(v), false)
		}
	}
}

// Save writes the state of the controller.
func (p *PLIC) Save(w io.Writer) error {
	for _, regs := range p.state() {
		if err := save(w, "PLIC", regs); err != nil {
			return err
		}
	}
	return nil
}

func (p *PLIC) state() []any { return []any{&p.plicRegs, p.enable, p.threshold} }

// Parse reads what Save wrote.
func (p *PLIC) Parse(r io.Reader, _ uint64) (set func(), err error) {
	read := NewPLIC(p.out...)
	for _, regs := range read.state() {
		if err := load(r, "PLIC", regs); err != nil {
			return nil, err
		}
	}
	if !read.sound() {
		return nil, unsound("PLIC")
	}
	return func() { *p = *read; p.update() }, nil
}

// sound: there is no input 0, and no priority that is too high.
func (p *PLIC) sound() bool {
	high := func(priority uint8) bool { return priority > plicPriorities }
	none := (p.Raised[0]|p.Claimed[0])&1 == 0 && p.Priority[0] == 0
	return none && !slices.ContainsFunc(p.Priority[:], high) && !slices.ContainsFunc(p.threshold, high)
}
