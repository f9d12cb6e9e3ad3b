package device

// Fields of the interrupt command register.
const (
	icrLogical   = 1 << 11
	icrAssert    = 1 << 14
	icrLevel     = 1 << 15
	icrShorthand = 18
)

// Its shorthands for a destination.
const (
	toDestination = iota
	toSelf
	toAll
	toOthers
)

// send carries out what has been written to the interrupt command register. It is done at once.
func (a *LAPIC) send() {
	command := a.r.ICR[0]
	fixed := delivery(command) == deliverFixed || delivery(command) == deliverLowest
	switch {
	case fixed && command&0xff < firstLegal:
		a.fail(errSendIllegal)
	case delivery(command) == deliverInit && command&icrLevel != 0 && command&icrAssert == 0:
		// deassert: nothing has happened since the 486
	default:
		deliverTo(a.all, command, a.addresses)
	}
}

// deliverTo sends an interrupt to those local APICs that are meant: to all, or to that of the lowest
// priority.
func deliverTo(all []*LAPIC, command uint32, meant func(*LAPIC) bool) {
	var lowest *LAPIC
	for _, to := range all {
		switch {
		case !meant(to):
		case delivery(command) != deliverLowest:
			to.receive(command)
		case to.enabled() && (lowest == nil || to.ppr() < lowest.ppr()):
			lowest = to
		}
	}
	if lowest != nil {
		lowest.receive(command)
	}
}

// addresses reports whether the command is for to.
func (a *LAPIC) addresses(to *LAPIC) bool {
	switch a.r.ICR[0] >> icrShorthand & 3 {
	case toSelf:
		return to == a
	case toAll:
		return true
	case toOthers:
		return to != a
	}
	return to.isTarget(a.r.ICR[1]>>24, a.r.ICR[0]&icrLogical != 0)
}

// isTarget reports whether a destination, physical or logical, is or has this local APIC.
func (a *LAPIC) isTarget(destination uint32, logical bool) bool {
	if logical {
		return a.member(destination)
	}
	return destination == 0xff || destination == a.r.ID>>24
}

// member reports whether a logical destination has this one in it: in the flat model as a bit, in the
// cluster model, whose number is in the upper half, as a bit of the lower.
func (a *LAPIC) member(destination uint32) bool {
	own := a.r.LDR >> 24
	switch {
	case destination == 0xff:
		return true
	case a.r.DFR>>28 == 0xf:
		return own&destination != 0
	}
	return own>>4 == destination>>4 && own&destination&0xf != 0
}

// receive is the command as it arrives.
func (a *LAPIC) receive(command uint32) {
	switch delivery(command) {
	case deliverFixed, deliverLowest:
		a.accept(command & 0xff)
	case deliverNMI:
		if !a.r.Waiting {
			a.cpu.RaiseNMI()
		}
	case deliverInit:
		a.reset()
		a.r.Waiting = true
		a.cpu.Init()
		a.update()
	case deliverStartUp:
		if a.r.Waiting {
			a.r.Waiting = false
			a.cpu.StartUp(uint8(command))
		}
	}
}
