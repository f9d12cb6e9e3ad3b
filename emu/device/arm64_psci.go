package device

// A PSCI is the firmware of an arm64 machine, as its kernel sees it (Arm Power State
// Coordination Interface, DEN 0022, version 1.1). It has no state. No CPU is suspended: they
// wait by WFI.
type PSCI struct {
	cpus []CPUControl
	end  func(Ending)
}

// NewPSCI makes the firmware of CPUs whose affinities are their indexes. Where there is only
// one, which has been started and stays so, it may be nil. It calls end when the guest wants
// to end.
func NewPSCI(cpus []CPUControl, end func(Ending)) *PSCI { return &PSCI{cpus, end} }

// Functions.
const (
	smcccVersion      = 0x80000000
	psciVersion       = 0x84000000
	psciCPUOff        = 0x84000002
	psciCPUOn32       = 0x84000003
	psciAffinity32    = 0x84000004
	psciMigrateType   = 0x84000006
	psciSystemOff     = 0x84000008
	psciSystemReset   = 0x84000009
	psciFeatures      = 0x8400000a
	psciSystemReset2  = 0x84000012
	psciCPUOn         = 0xc4000003
	psciAffinity      = 0xc4000004
	psciSystemReset64 = 0xc4000012
)

// Results.
const (
	psciNotSupported = -1
	psciInvalid      = -2
	psciDenied       = -3
	psciAlreadyOn    = -4
)

// A PSCICall is a call: the CPU that makes it, the number of the function, and its arguments.
type PSCICall struct {
	CPU    int
	Number uint32
	Arg    [3]uint64
}

// Call carries out a call and returns the result.
func (p *PSCI) Call(c PSCICall) int64 {
	switch c.Number {
	case smcccVersion:
		return 1<<16 | 1
	case psciVersion:
		return 1<<16 | 1
	case psciMigrateType:
		return 2 // there is nothing to migrate
	case psciFeatures:
		return psciHas(uint32(c.Arg[0]))
	case psciCPUOff:
		return p.cpuOff(c.CPU)
	case psciCPUOn32, psciCPUOn:
		return p.cpuOn(c.Arg[0], c.Arg[1], c.Arg[2])
	case psciAffinity32, psciAffinity:
		return p.affinity(c.Arg[0])
	case psciSystemOff:
		p.end(PowerOff)
		return 0
	case psciSystemReset, psciSystemReset2, psciSystemReset64:
		p.end(Reboot)
		return 0
	}
	return psciNotSupported
}

// find is the CPU of an affinity, as MPIDR_EL1 has it.
func (p *PSCI) find(affinity uint64) (c CPUControl, ok bool) {
	i := affinity & 0xff00ffffff
	if i >= uint64(len(p.cpus)) {
		return nil, false
	}
	return p.cpus[i], true
}

func (p *PSCI) cpuOff(cpu int) int64 {
	c := p.cpus[cpu]
	if c == nil {
		return psciDenied
	}
	c.Stop()
	return 0
}

func (p *PSCI) cpuOn(affinity, pc, word uint64) int64 {
	c, ok := p.find(affinity)
	switch {
	case !ok:
		return psciInvalid
	case c == nil || c.Started():
		return psciAlreadyOn
	}
	c.Start(pc, word)
	return 0
}

const psciOff = 1 // of affinity; 0 is on

func (p *PSCI) affinity(affinity uint64) int64 {
	c, ok := p.find(affinity)
	switch {
	case !ok:
		return psciInvalid
	case c != nil && !c.Started():
		return psciOff
	}
	return 0
}

func psciHas(number uint32) int64 {
	switch number {
	case smcccVersion, psciVersion, psciCPUOff, psciCPUOn32, psciAffinity32, psciMigrateType, psciSystemOff, psciSystemReset,
		psciFeatures, psciSystemReset2, psciCPUOn, psciAffinity, psciSystemReset64:
		return 0
	}
	return psciNotSupported
}
