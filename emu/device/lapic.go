package device

import (
	"io"
	"math/bits"
)

// LAPICBase is where each CPU finds its own local APIC, and LAPICSize its bytes.
const (
	LAPICBase = 0xfee00000
	LAPICSize = 0x1000
)

// A LAPIC is the local APIC of a CPU (Intel SDM vol. 3, chapter "Advanced Programmable Interrupt
// Controller"), in xAPIC mode:
//
//	8259 pair --LINT0--.
//	timer -------------+--> requests (IRR) --> the CPU --> in service (ISR)
//	other local APICs--'
//
// All interrupts are edge triggered: there is no I/O APIC. The timer counts nanoseconds of its
// CPU's clock.
type LAPIC struct {
	id    uint8
	cpu   LAPICCPU
	clock Clock
	all   []*LAPIC
	pic   *PIC
	r     lapic
}

// A LAPICCPU is what a local APIC does to its CPU.
type LAPICCPU interface {
	// Interrupt is the level of the request for an interrupt, which Ack serves.
	Interrupt(high bool)
	// RaiseNMI is one interrupt that is not masked.
	RaiseNMI()
	// Init stops the CPU, until StartUp has it begin in real mode at the start of a page.
	Init()
	StartUp(page uint8)
}

// lapic is the state of one, with the registers named as in the SDM.
type lapic struct {
	ID, TPR, LDR, DFR, SVR, ESR uint32
	ICR                         [2]uint32
	LVT                         [lvtEntries]uint32
	IRR, ISR                    [8]uint32

	Errors  uint32 // that the next write of ESR shows
	LINT0   bool   // level of that input
	Waiting bool   // for a startup IPI

	Divide  uint32 // as written
	Initial uint32 // count of the timer
	Start   uint64 // ns: when it was written
	Due     uint64 // ns: when the count is over next, or Never
}

// The local vector table.
const (
	lvtTimer = iota
	lvtPerformance
	lvtLINT0
	lvtLINT1
	lvtError
	lvtEntries
)

// Bits of its entries, and how they deliver.
const (
	lvtMasked   = 1 << 16
	lvtPeriodic = 1 << 17 // timer

	deliverFixed, deliverLowest = 0, 1
	deliverNMI, deliverInit     = 4, 5
	deliverStartUp, deliverExt  = 6, 7
)

// lapicVersion is that of an integrated APIC, with the highest entry of the table.
const lapicVersion = 0x14 | (lvtEntries-1)<<16

const (
	svrEnabled = 1 << 8

	errSendIllegal    = 1 << 5
	errReceiveIllegal = 1 << 6
	errRegister       = 1 << 7
	firstLegal        = 16 // vectors below are the CPU's own
)

// NewLAPICs makes the local APICs of the CPUs of a machine with their numbers as IDs, and a pair
// of 8259 with its line to LINT0 of all. As firmware leaves them, that of CPU 0 passes it on
// (MultiProcessor Specification 1.4, 3.6.2.2 "Virtual Wire Mode"), and the other CPUs wait to be
// started. The clock is that of the CPU whose APIC is looked at.
func NewLAPICs(clock Clock, cpus []LAPICCPU) ([]*LAPIC, *PIC) {
	all := make([]*LAPIC, len(cpus))
	pic := NewPIC(lint0(all))
	for i, c := range cpus {
		all[i] = &LAPIC{id: uint8(i), cpu: c, clock: clock, all: all, pic: pic}
		all[i].reset()
		all[i].r.Waiting = i > 0
	}
	boot := &all[0].r
	boot.SVR |= svrEnabled
	boot.LVT[lvtLINT0] = deliverExt << 8
	boot.LVT[lvtLINT1] = deliverNMI << 8
	return all, pic
}

// lint0 drives the input of all local APICs.
type lint0 []*LAPIC

func (l lint0) Set(high bool) {
	for _, a := range l {
		a.setLINT0(high)
	}
}

// reset is what INIT leaves.
func (a *LAPIC) reset() {
	a.r = lapic{ID: uint32(a.id) << 24, DFR: ^uint32(0), SVR: 0xff, LINT0: a.r.LINT0, Due: Never}
	for i := range a.r.LVT {
		a.r.LVT[i] = lvtMasked
	}
}

func (a *LAPIC) enabled() bool { return a.r.SVR&svrEnabled != 0 }

// highest is the highest vector of a set, or -1.
func highest(set *[8]uint32) int {
	for i := 7; i >= 0; i-- {
		if set[i] != 0 {
			return 32*i + bits.Len32(set[i]) - 1
		}
	}
	return -1
}

// ppr is the processor priority: of the task, or of what is in service.
func (a *LAPIC) ppr() uint32 {
	service := uint32(max(highest(&a.r.ISR), 0)) &^ 15
	if a.r.TPR&0xf0 >= service {
		return a.r.TPR & 0xff
	}
	return service
}

// pick is the request to be served next.
func (a *LAPIC) pick() (vector int, ok bool) {
	vector = highest(&a.r.IRR)
	return vector, vector >= 0 && a.enabled() && uint32(vector)>>4 > a.ppr()>>4
}

// external: the 8259 pair asks for an interrupt, and it is passed on.
func (a *LAPIC) external() bool {
	lvt := a.r.LVT[lvtLINT0]
	return a.r.LINT0 && lvt&lvtMasked == 0 && delivery(lvt) == deliverExt
}

func delivery(v uint32) uint32 { return v >> 8 & 7 }

func (a *LAPIC) update() {
	_, ok := a.pick()
	a.cpu.Interrupt(ok || a.external())
}

// Ack takes an interrupt into service and returns its vector. Where the request has gone
// meanwhile that is the spurious one.
func (a *LAPIC) Ack() int {
	defer a.update()
	vector, ok := a.pick()
	switch {
	case ok:
		a.r.IRR[vector/32] &^= 1 << (vector % 32)
		a.r.ISR[vector/32] |= 1 << (vector % 32)
		return vector
	case a.external():
		return a.pic.Ack()
	}
	return int(a.r.SVR & 0xff)
}

// eoi ends the interrupt in service of the highest priority.
func (a *LAPIC) eoi() {
	if v := highest(&a.r.ISR); v >= 0 {
		a.r.ISR[v/32] &^= 1 << (v % 32)
	}
}

// accept takes a request.
func (a *LAPIC) accept(vector uint32) {
	switch {
	case !a.enabled():
	case vector < firstLegal:
		a.fail(errReceiveIllegal)
	default:
		a.r.IRR[vector/32] |= 1 << (vector % 32)
	}
	a.update()
}

// fail notes an error, and says so if that is asked for.
func (a *LAPIC) fail(bit uint32) {
	news := a.r.Errors&bit == 0
	a.r.Errors |= bit
	if news {
		a.local(lvtError)
	}
}

// local is an interrupt of the local vector table.
func (a *LAPIC) local(entry int) {
	lvt := a.r.LVT[entry]
	switch {
	case lvt&lvtMasked != 0:
	case delivery(lvt) == deliverNMI:
		a.cpu.RaiseNMI()
	case delivery(lvt) == deliverFixed && lvt&0xff >= firstLegal:
		a.accept(lvt & 0xff)
	case delivery(lvt) == deliverFixed:
		a.r.Errors |= errReceiveIllegal
	}
}

func (a *LAPIC) setLINT0(high bool) {
	rises := high && !a.r.LINT0
	a.r.LINT0 = high
	if rises {
		a.local(lvtLINT0)
	}
	a.update()
}

// Save writes the state.
func (a *LAPIC) Save(w io.Writer) error { return save(w, "local APIC", &a.r) }

// Parse reads what Save wrote.
func (a *LAPIC) Parse(r io.Reader, now uint64) (set func(), err error) {
	regs, err := parse(r, "local APIC", &a.r, func(l *lapic) bool { return l.sound(now) })
	return func() { regs(); a.update() }, err
}

// sound: the timer has not begun later than now, and no vector is one of the CPU's own.
func (l *lapic) sound(now uint64) bool {
	const own, longest = 1<<firstLegal - 1, 1 << (32 + 7) // a timer that has been slowed down seems to have begun earlier
	return l.IRR[0]&own == 0 && l.ISR[0]&own == 0 && now-l.Start <= now+longest
}
