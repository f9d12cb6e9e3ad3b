package device

// Offsets of the registers, 16 bytes each.
const (
	lapicID        = 0x02
	lapicVersionAt = 0x03
	lapicTPR       = 0x08
	lapicAPR       = 0x09
	lapicPPR       = 0x0a
	lapicEOI       = 0x0b
	lapicLDR       = 0x0d
	lapicDFR       = 0x0e
	lapicSVR       = 0x0f
	lapicISR       = 0x10
	lapicTMR       = 0x18
	lapicIRR       = 0x20
	lapicESR       = 0x28
	lapicICR       = 0x30
	lapicICRHigh   = 0x31
	lapicLVT       = 0x32 // of the timer; 0x33 is that of a sensor, which is not there
	lapicLVTRest   = 0x34
	lapicInitial   = 0x38
	lapicCurrent   = 0x39
	lapicDivide    = 0x3e
)

// lvtWritable are the bits of an entry that can be written.
var lvtWritable = [lvtEntries]uint32{
	lvtTimer:       lvtMasked | lvtPeriodic | 0xff,
	lvtPerformance: lvtMasked | 0x7ff,
	lvtLINT0:       lvtMasked | 0xa7ff,
	lvtLINT1:       lvtMasked | 0xa7ff,
	lvtError:       lvtMasked | 0xff,
}

// entry is the place in the table of a register.
func entry(register uint64) (i int, ok bool) {
	if register == lapicLVT {
		return lvtTimer, true
	}
	i = int(register) - lapicLVTRest + lvtPerformance
	return i, i >= lvtPerformance && i < lvtEntries
}

// LAPICRegisters are the registers of local APICs at the one address that all CPUs have for them:
// they are those of the CPU that reaches them, whose number cpu tells.
func LAPICRegisters(all []*LAPIC, cpu func() int) Mem { return ownLAPIC{all, cpu} }

type ownLAPIC struct {
	all []*LAPIC
	cpu func() int
}

func (o ownLAPIC) Load(offset uint64, size int) uint32 {
	return o.all[o.cpu()].load(offset, size)
}

func (o ownLAPIC) Store(offset uint64, size int, v uint32) {
	o.all[o.cpu()].store(offset, size, v)
}

// load reads a register, which is 32 bits on a multiple of 16; wherever else it is, zero.
func (a *LAPIC) load(offset uint64, size int) uint32 {
	register := offset >> 4
	if offset&15 != 0 || size != 4 {
		return 0
	}
	if i, ok := entry(register); ok {
		return a.r.LVT[i]
	}
	if register >= lapicISR && register < lapicESR {
		return a.set(register)
	}
	return a.read(register)
}

// set is a word of ISR, TMR (no interrupt is level triggered) or IRR.
func (a *LAPIC) set(register uint64) uint32 {
	switch i := register & 7; register &^ 7 {
	case lapicISR:
		return a.r.ISR[i]
	case lapicIRR:
		return a.r.IRR[i]
	}
	return 0
}

func (a *LAPIC) read(register uint64) uint32 {
	switch register {
	case lapicID:
		return a.r.ID
	case lapicVersionAt:
		return lapicVersion
	case lapicTPR:
		return a.r.TPR
	case lapicAPR, lapicPPR:
		return a.ppr()
	case lapicLDR:
		return a.r.LDR
	case lapicDFR:
		return a.r.DFR
	case lapicSVR:
		return a.r.SVR
	case lapicESR:
		return a.r.ESR
	case lapicICR, lapicICRHigh:
		return a.r.ICR[register-lapicICR]
	case lapicInitial:
		return a.r.Initial
	case lapicCurrent:
		return a.current()
	case lapicDivide:
		return a.r.Divide
	}
	a.fail(errRegister)
	return 0
}

// store writes a register.
func (a *LAPIC) store(offset uint64, size int, v uint32) {
	if offset&15 != 0 || size != 4 {
		return
	}
	register := offset >> 4
	if i, ok := entry(register); ok {
		a.writeLVT(i, v)
	} else {
		a.write(register, v)
	}
	a.update()
}

func (a *LAPIC) write(register uint64, v uint32) {
	switch register {
	case lapicID:
		a.r.ID = v & 0xff000000
	case lapicTPR:
		a.r.TPR = v & 0xff
	case lapicEOI:
		a.eoi()
	case lapicLDR:
		a.r.LDR = v & 0xff000000
	case lapicDFR:
		a.r.DFR = v | 0x0fffffff
	case lapicSVR:
		a.writeSVR(v & 0x3ff)
	case lapicESR:
		a.r.ESR, a.r.Errors = a.r.Errors, 0
	case lapicICR:
		a.r.ICR[0] = v & 0xccfff
		a.send()
	case lapicICRHigh:
		a.r.ICR[1] = v & 0xff000000
	case lapicInitial:
		a.r.Initial = v
		a.r.Start = a.clock.Now()
		a.arm()
	case lapicDivide:
		a.writeDivide(v & 0xb)
	default:
		a.fail(errRegister)
	}
}

// writeSVR: while it is disabled by software all entries of the table are masked.
func (a *LAPIC) writeSVR(v uint32) {
	a.r.SVR = v
	if a.enabled() {
		return
	}
	for i := range a.r.LVT {
		a.r.LVT[i] |= lvtMasked
	}
}

func (a *LAPIC) writeLVT(i int, v uint32) {
	a.r.LVT[i] = v & lvtWritable[i]
	if !a.enabled() {
		a.r.LVT[i] |= lvtMasked
	}
	if i == lvtTimer {
		a.arm()
	}
}
