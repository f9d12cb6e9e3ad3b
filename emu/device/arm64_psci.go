package device

// A PSCI is the firmware of an arm64 machine with one CPU, as its kernel sees it (Arm Power
// State Coordination Interface, DEN 0022, version 1.1). It has no state.
type PSCI struct {
	end func(Ending)
}

// NewPSCI makes the firmware. It calls end when the guest wants to end.
func NewPSCI(end func(Ending)) *PSCI { return &PSCI{end} }

// Functions.
const (
	smcccVersion      = 0x80000000
	psciVersion       = 0x84000000
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
	psciAlreadyOn    = -4
)

// Call carries out function number with its first argument and returns the result.
func (p *PSCI) Call(number uint32, arg uint64) int64 {
	switch number {
	case smcccVersion:
		return 1<<16 | 1
	case psciVersion:
		return 1<<16 | 1
	case psciMigrateType:
		return 2 // there is nothing to migrate
	case psciFeatures:
		return psciHas(uint32(arg))
	case psciCPUOn32, psciCPUOn:
		return onlyCPU(arg, psciAlreadyOn)
	case psciAffinity32, psciAffinity:
		return onlyCPU(arg, 0)
	case psciSystemOff:
		p.end(PowerOff)
		return 0
	case psciSystemReset, psciSystemReset2, psciSystemReset64:
		p.end(Reboot)
		return 0
	}
	return psciNotSupported
}

func onlyCPU(cpu uint64, result int64) int64 {
	if cpu&0xff00ffffff != 0 {
		return psciInvalid
	}
	return result
}

func psciHas(number uint32) int64 {
	switch number {
	case smcccVersion, psciVersion, psciCPUOn32, psciAffinity32, psciMigrateType, psciSystemOff, psciSystemReset,
		psciFeatures, psciSystemReset2, psciCPUOn, psciAffinity, psciSystemReset64:
		return 0
	}
	return psciNotSupported
}
