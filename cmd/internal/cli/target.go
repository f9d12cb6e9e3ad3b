package cli

import (
	"trapline/emu"
	"trapline/probes"
)

// What a machine is to providers and sessions, besides a probes.Target. They find out by its shape, so
// that here is where the compiler can hold it.
var (
	_ probes.Target       = (*emu.Machine)(nil)
	_ probes.CrossChecker = (*emu.Machine)(nil)
	_ probes.Sharer       = (*emu.Machine)(nil)
	_ probes.Aliaser      = (*emu.Machine)(nil)
)
