package device

// Offsets of the distributor's registers (Arm GIC v2, 4.3). Most are ranges with one bit, two bits or
// a byte for each interrupt.
const (
	gicdCtlr, gicdType, gicdIIDR                         = 0x000, 0x004, 0x008
	gicdSetEnable, gicdClearEnable                       = 0x100, 0x180
	gicdSetPending, gicdClearPending                     = 0x200, 0x280
	gicdSetActive, gicdClearActive                       = 0x300, 0x380
	gicdPriority, gicdTargets, gicdConfig, gicdConfigEnd = 0x400, 0x800, 0xc00, 0xd00
	gicdSGI, gicdClearSGI, gicdSetSGI                    = 0xf00, 0xf10, 0xf20
	gicdPeripheralID2                                    = 0xfe8

	gicIIDR = 0x43b // Arm
)

// GICSize is the size in bytes of the distributor's registers, and of a CPU interface's.
const GICSize = 0x10000

// Distributor returns the distributor's registers as a CPU sees them.
func (g *GIC) Distributor(cpu int) Mem { return gicDistributor{g, cpu} }

// gicDistributor is the distributor for one CPU: registers of private interrupts differ by CPU.
type gicDistributor struct {
	*GIC
	cpu int
}

func (d gicDistributor) Load(offset uint64, size int) uint32 {
	word := int(offset % 0x80 / 4)
	switch {
	case offset == gicdCtlr:
		return d.cpus[0].Ctlr
	case offset == gicdType:
		return uint32(len(d.cpus)-1)<<5 | (gicWords - 1)
	case offset == gicdIIDR:
		return gicIIDR
	case offset == gicdPeripheralID2:
		return 2 << 4 // the architecture's version
	case offset >= gicdSetEnable && offset < gicdPriority:
		if word >= gicWords {
			return 0
		}
		return d.bank(d.cpu, word).loadBits(offset, word)
	case offset >= gicdPriority && offset < gicdTargets:
		return loadBytes(offset-gicdPriority, size, func(n int) uint8 { return d.of(d.cpu, n).Priority[n] })
	case offset >= gicdTargets && offset < gicdConfig:
		return loadBytes(offset-gicdTargets, size, d.target)
	case offset >= gicdConfig && offset < gicdConfigEnd:
		return d.loadConfig(int(offset-gicdConfig) / 4)
	case offset >= gicdClearSGI && offset < gicdSetSGI+16:
		return loadBytes(offset%16, size, func(n int) uint8 { return d.cpus[d.cpu].senders[n] })
	}
	return 0
}

// loadBits reads a word of the registers with one bit for each interrupt.
func (r *gicRegs) loadBits(offset uint64, word int) uint32 {
	switch {
	case offset < gicdSetPending:
		return r.Enabled[word]
	case offset < gicdSetActive:
		return r.pending(word)
	default:
		return r.Active[word]
	}
}

// loadBytes reads size bytes, that of interrupt n first.
func loadBytes(n uint64, size int, of func(n int) uint8) (v uint32) {
	for i := range size {
		if k := int(n) + i; k < gicIRQs {
			v |= uint32(of(k)) << (8 * i)
		}
	}
	return v
}

// target returns the CPUs that interrupt n goes to, a bit for each. A private interrupt goes to the CPU
// that reads the register.
func (d gicDistributor) target(n int) uint8 {
	if n < gicSPIs {
		return 1 << d.cpu
	}
	return d.targets[n]
}

// loadConfig spreads 16 bits of Edge to the upper bits of 16 pairs.
func (d gicDistributor) loadConfig(n int) (v uint32) {
	for i := range 16 {
		if k := n*16 + i; k < gicIRQs && d.of(d.cpu, k).Edge.has(k) {
			v |= 2 << (2 * i)
		}
	}
	return v
}

func (d gicDistributor) Store(offset uint64, size int, v uint32) {
	word := int(offset % 0x80 / 4)
	switch {
	case offset == gicdCtlr:
		d.cpus[0].Ctlr = v & 1
	case offset >= gicdSetEnable && offset < gicdPriority:
		if word < gicWords {
			d.bank(d.cpu, word).storeBits(offset, word, v)
		}
	case offset >= gicdPriority && offset < gicdTargets:
		storeBytes(offset-gicdPriority, size, v, func(n int, v uint8) {
			d.of(d.cpu, n).Priority[n] = v & 0xf8 // 32 priorities
		})
	case offset >= gicdTargets+gicSPIs && offset < gicdConfig:
		if len(d.cpus) > 1 { // with one CPU they are fixed
			storeBytes(offset-gicdTargets, size, v, func(n int, v uint8) { d.targets[n] = v & d.all() })
		}
	case offset >= gicdConfig+4 && offset < gicdConfigEnd: // SGIs are fixed
		d.storeConfig(int(offset-gicdConfig)/4, v)
	case offset == gicdSGI:
		d.sendSGI(v)
	case offset >= gicdClearSGI && offset < gicdSetSGI+16:
		storeBytes(offset%16, size, v, func(n int, v uint8) { d.storeSGI(n, v, offset >= gicdSetSGI) })
	}
	d.update()
}

// storeBits writes a word of the registers with one bit for each interrupt. A 0 has no effect.
func (r *gicRegs) storeBits(offset uint64, word int, v uint32) {
	pending := v
	if word == 0 {
		pending &^= 1<<gicPPIs - 1 // only gicdSetSGI and gicdClearSGI change SGIs
	}
	switch offset &^ 0x7f {
	case gicdSetEnable:
		r.Enabled[word] |= v
	case gicdClearEnable:
		r.Enabled[word] &^= v
	case gicdSetPending:
		r.Latched[word] |= pending
	case gicdClearPending:
		r.Latched[word] &^= pending
	case gicdSetActive:
		r.Active[word] |= v
	case gicdClearActive:
		r.Active[word] &^= v
	}
}

// storeBytes passes on size bytes, that of interrupt n first.
func storeBytes(n uint64, size int, v uint32, to func(n int, v uint8)) {
	for i := range size {
		if k := int(n) + i; k < gicIRQs {
			to(k, uint8(v>>(8*i)))
		}
	}
}

func (d gicDistributor) storeConfig(n int, v uint32) {
	for i := range 16 {
		if k := n*16 + i; k < gicIRQs {
			d.of(d.cpu, k).Edge.set(k, v>>(2*i)&2 != 0)
		}
	}
}

// sendSGI raises a software interrupt on a list of CPUs, on all CPUs but this one, or on this one.
func (d gicDistributor) sendSGI(v uint32) {
	to := uint8(v >> 16)
	switch v >> 24 & 3 {
	case 1:
		to = d.all() &^ (1 << d.cpu)
	case 2:
		to = 1 << d.cpu
	case 3:
		to = 0
	}
	d.signal(d.cpu, to, int(v&15))
}

// storeSGI makes SGI n pending, or not pending, from each of a set of CPUs.
func (d gicDistributor) storeSGI(n int, from uint8, pending bool) {
	c := d.cpus[d.cpu]
	c.senders[n] &^= from
	if pending {
		c.senders[n] |= from & d.all()
	}
	c.Latched.set(n, c.senders[n] != 0)
}

// Offsets of the CPU interface's registers (Arm GIC v2, 4.4).
const (
	giccCtlr, giccMask, giccBinary, giccAck     = 0x00, 0x04, 0x08, 0x0c
	giccEnd, giccRunning, giccHighest, giccIIDR = 0x10, 0x14, 0x18, 0xfc
	giccDeactivate                              = 0x1000

	giccSplitEnd = 1 << 9 // EOImode: the end of an interrupt does not deactivate it
)

// CPUInterface returns the registers of a CPU's interface.
func (g *GIC) CPUInterface(cpu int) Mem { return gicInterface{g, cpu} }

type gicInterface struct {
	*GIC
	cpu int
}

func (i gicInterface) Load(offset uint64, _ int) uint32 {
	c := i.cpus[i.cpu]
	switch offset {
	case giccCtlr:
		return c.CPUCtlr
	case giccMask:
		return uint32(c.Mask)
	case giccBinary:
		return uint32(c.Binary)
	case giccAck:
		return i.ack(i.cpu)
	case giccRunning:
		return uint32(i.runningPriority(i.cpu))
	case giccHighest:
		return uint32(i.best(i.cpu))
	case giccIIDR:
		return 2<<16 | gicIIDR
	}
	return 0
}

func (i gicInterface) Store(offset uint64, _ int, v uint32) {
	c, n := i.cpus[i.cpu], int(v&0x3ff)
	switch offset {
	case giccCtlr:
		c.CPUCtlr = v & (1 | giccSplitEnd)
	case giccMask:
		c.Mask = uint8(v) & 0xf8
	case giccBinary:
		c.Binary = uint8(v & 7)
	case giccEnd:
		if n < gicIRQs {
			c.Running.set(n, false)
			if c.CPUCtlr&giccSplitEnd == 0 {
				i.of(i.cpu, n).Active.set(n, false)
			}
		}
	case giccDeactivate:
		if n < gicIRQs {
			i.of(i.cpu, n).Active.set(n, false)
		}
	}
	i.update()
}
