package device

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lapicRig is the local APICs of a machine, and what came to its CPUs.
type lapicRig struct {
	clock fakeClock
	pic   *PIC
	all   []*LAPIC
	cpus  []*lapicTester
}

// lapicTester is a CPU that notes what comes to it.
type lapicTester struct {
	high bool
	log  []string
}

func (c *lapicTester) Interrupt(high bool) { c.high = high }
func (c *lapicTester) RaiseNMI()           { c.log = append(c.log, "nmi") }
func (c *lapicTester) Init()               { c.log = append(c.log, "init") }
func (c *lapicTester) StartUp(page uint8)  { c.log = append(c.log, fmt.Sprintf("start %#x", page)) }

// newLAPICs makes n of them, enabled with the spurious vector 0xff, their logical IDs a bit each.
func newLAPICs(n int) *lapicRig {
	r := new(lapicRig)
	var cpus []LAPICCPU
	for range n {
		r.cpus = append(r.cpus, new(lapicTester))
		cpus = append(cpus, r.cpus[len(r.cpus)-1])
	}
	r.all, r.pic = NewLAPICs(&r.clock, cpus)
	for i := range r.all {
		r.set(i, lapicSVR, 0x1ff)
		r.set(i, lapicLDR, 1<<(24+i))
	}
	return r
}

func (r *lapicRig) set(cpu int, register uint64, v uint32) { r.all[cpu].store(register<<4, 4, v) }
func (r *lapicRig) get(cpu int, register uint64) uint32    { return r.all[cpu].load(register<<4, 4) }

// ipi has a CPU send one.
func (r *lapicRig) ipi(from int, destination, command uint32) {
	r.set(from, lapicICRHigh, destination<<24)
	r.set(from, lapicICR, command)
}

// acks takes what a CPU is asked to take, and ends nothing.
func (r *lapicRig) acks(cpu int) (vectors []int) {
	for r.cpus[cpu].high {
		vectors = append(vectors, r.all[cpu].Ack())
	}
	return vectors
}

func TestLAPICPriority(t *testing.T) {
	r := newLAPICs(1)
	for _, v := range []uint32{0x45, 0x31, 0x48, 0x51} {
		r.ipi(0, 0, 1<<18|v) // to itself
	}
	wantVectors(t, r.acks(0), 0x51) // 0x48 is of a lower class
	if got := r.get(0, lapicPPR); got != 0x50 {
		t.Errorf("priority %#x in service of 0x51", got)
	}
	r.set(0, lapicEOI, 0)
	wantVectors(t, r.acks(0), 0x48) // 0x45 is of the same class
	r.set(0, lapicTPR, 0x30)
	r.set(0, lapicEOI, 0)
	wantVectors(t, r.acks(0), 0x45)
	r.set(0, lapicEOI, 0)
	wantVectors(t, r.acks(0)) // the task is as important as 0x31
	if got := r.get(0, lapicIRR+1); got != 1<<(0x31-0x20) {
		t.Errorf("requested %#x", got)
	}
	r.set(0, lapicTPR, 0)
	wantVectors(t, r.acks(0), 0x31)
	if got := r.all[0].Ack(); got != 0xff {
		t.Errorf("vector %#x with none requested, want the spurious one", got)
	}
}

// The 8259 pair reaches CPU 0 alone, behind what its local APIC has itself.
func TestLAPICVirtualWire(t *testing.T) {
	r := newLAPICs(2)
	initPIC(r.pic, 0x01)
	raise(r.pic, 4)
	r.ipi(1, 0, 0x40)
	if r.cpus[1].high {
		t.Error("CPU 1 is interrupted as well")
	}
	wantVectors(t, r.acks(0), 0x40, 0x34)
	out(r.pic.Master(), 0, 0x20)
	r.set(0, lapicLVTRest+lvtLINT0-1, lvtMasked|deliverExt<<8)
	raise(r.pic, 4)
	wantVectors(t, r.acks(0))
}

func TestLAPICDestinations(t *testing.T) {
	const others, all, self, logical, lowest = 3 << 18, 2 << 18, 1 << 18, 1 << 11, deliverLowest << 8
	for _, c := range []struct {
		name                 string
		destination, command uint32
		want                 string // CPUs
	}{
		{"physical", 2, 0, "2"},
		{"physical, to all", 0xff, 0, "0123"},
		{"physical, to none", 9, 0, ""},
		{"logical", 0b1010, logical, "13"},
		{"logical, to all", 0xff, logical, "0123"},
		{"to itself", 0, self, "1"},
		{"to all", 0, all, "0123"},
		{"to the others", 0, others, "023"},
		{"of lowest priority", 0b1101, logical | lowest, "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newLAPICs(4)
			for i, priority := range []uint32{0x50, 0, 0x20, 0x30} {
				r.set(i, lapicTPR, priority)
			}
			r.ipi(1, c.destination, c.command|0x61)
			got := ""
			for i := range r.cpus {
				if r.acks(i) != nil {
					got += fmt.Sprint(i)
				}
			}
			if got != c.want {
				t.Errorf("CPUs %q, want %q", got, c.want)
			}
		})
	}
}

// In the cluster model a logical ID is a cluster and one of four bits.
func TestLAPICClusters(t *testing.T) {
	r := newLAPICs(3)
	for i, id := range []uint32{0x11, 0x12, 0x21} {
		r.set(i, lapicDFR, 0)
		r.set(i, lapicLDR, id<<24)
	}
	r.ipi(0, 0x13, 1<<11|0x61)
	if !r.cpus[0].high || !r.cpus[1].high || r.cpus[2].high {
		t.Errorf("%v %v %v", r.cpus[0].high, r.cpus[1].high, r.cpus[2].high)
	}
}

// How a CPU is started (Multi-Processor Specification 1.4, B.4).
func TestLAPICStart(t *testing.T) {
	const init, assert, level, startUp, nmi = 5 << 8, 1 << 14, 1 << 15, 6 << 8, 4 << 8
	r := newLAPICs(3)
	r.ipi(0, 1, nmi) // it has not begun
	r.ipi(0, 1, init|level|assert)
	r.ipi(0, 1, init|level)
	r.ipi(0, 1, startUp|0x98)
	r.ipi(0, 1, startUp|0x98) // it runs
	r.ipi(0, 1, nmi)
	want := []string{"init", "start 0x98", "nmi"}
	if diff := cmp.Diff(want, r.cpus[1].log); diff != "" {
		t.Errorf("-want +have:\n%s", diff)
	}
	if r.cpus[0].log != nil || r.cpus[2].log != nil {
		t.Errorf("other CPUs: %q %q", r.cpus[0].log, r.cpus[2].log)
	}
	if got := r.get(1, lapicSVR); got != 0xff {
		t.Errorf("SVR %#x after INIT", got)
	}
	r.ipi(0, 1, 0x61)
	if r.cpus[1].high {
		t.Error("an interrupt while it is disabled")
	}
}

func TestLAPICTimer(t *testing.T) {
	const by16, by1 = 0b0011, 0b1011
	r := newLAPICs(1)
	r.clock = 1000
	r.set(0, lapicDivide, by16)
	r.set(0, lapicLVT, 0x70)
	r.set(0, lapicInitial, 100)
	r.clock += 160
	if got := r.get(0, lapicCurrent); got != 90 {
		t.Errorf("the count is %d, want 90", got)
	}
	r.set(0, lapicDivide, by1) // what is left goes on at another speed
	if got := r.all[0].Next(); got != 1160+90 {
		t.Errorf("due at %d, want 1250", got)
	}
	r.clock = 1250
	r.all[0].Poll()
	wantVectors(t, r.acks(0), 0x70)
	if next, count := r.all[0].Next(), r.get(0, lapicCurrent); next != Never || count != 0 {
		t.Errorf("once: next %d, count %d", next, count)
	}
	r.set(0, lapicEOI, 0)

	r.set(0, lapicLVT, lvtPeriodic|0x71)
	r.set(0, lapicInitial, 1000)
	r.clock += 3100 // three of them together
	r.all[0].Poll()
	wantVectors(t, r.acks(0), 0x71)
	r.set(0, lapicEOI, 0)
	if got := r.all[0].Next(); got != 1250+4000 {
		t.Errorf("due at %d, want 5250", got)
	}
	if got := r.get(0, lapicCurrent); got != 900 {
		t.Errorf("the count is %d, want 900", got)
	}
	r.set(0, lapicLVT, lvtMasked|lvtPeriodic|0x71)
	if got := r.all[0].Next(); got != Never {
		t.Errorf("masked, and due at %d", got)
	}
	r.set(0, lapicInitial, 0)
	r.set(0, lapicLVT, 0x71)
	if got := r.all[0].Next(); got != Never {
		t.Errorf("stopped, and due at %d", got)
	}
}

// Divisors, by the values that the SDM lists.
func TestLAPICDivisors(t *testing.T) {
	for v, want := range map[uint32]uint64{0: 2, 1: 4, 2: 8, 3: 16, 8: 32, 9: 64, 10: 128, 11: 1} {
		r := newLAPICs(1)
		r.set(0, lapicDivide, v)
		if got := r.all[0].divisor(); got != want {
			t.Errorf("%#b: %d, want %d", v, got, want)
		}
	}
}

func TestLAPICErrors(t *testing.T) {
	const errorEntry = lapicLVTRest + lvtError - 1
	r := newLAPICs(2)
	r.set(0, errorEntry, 0xfe)
	r.ipi(0, 1, 0x05) // a vector of the CPU's own
	wantVectors(t, r.acks(0), 0xfe)
	r.set(0, lapicEOI, 0)
	if got := r.get(0, lapicESR); got != 0 {
		t.Errorf("ESR %#x before it is written", got)
	}
	r.set(0, lapicESR, 0)
	if got := r.get(0, lapicESR); got != errSendIllegal {
		t.Errorf("ESR %#x", got)
	}
	r.get(0, 0x3f)
	r.set(0, lapicESR, 0)
	if got := r.get(0, lapicESR); got != errRegister {
		t.Errorf("ESR %#x after a register that is not there", got)
	}
}

// While it is disabled all of its table is masked.
func TestLAPICDisabled(t *testing.T) {
	r := newLAPICs(1)
	r.set(0, lapicLVT, 0x70)
	r.set(0, lapicSVR, 0xff)
	r.set(0, lapicLVT, 0x70)
	if got := r.get(0, lapicLVT); got != lvtMasked|0x70 {
		t.Errorf("timer %#x", got)
	}
}

func TestLAPICIdentity(t *testing.T) {
	r := newLAPICs(3)
	own := LAPICRegisters(r.all, func() int { return 2 })
	if id, version := own.Load(0x20, 4), own.Load(0x30, 4); id != 2<<24 || version != 0x40014 {
		t.Errorf("ID %#x, version %#x", id, version)
	}
	own.Store(0x80, 4, 0x30)
	if r.get(2, lapicTPR) != 0x30 || r.get(1, lapicTPR) != 0 {
		t.Error("a store is for another CPU")
	}
	if got := own.Load(0x24, 4) | own.Load(0x20, 1); got != 0 {
		t.Errorf("%#x where there is no register", got)
	}
}

// lapicPorts lets a test reach the registers of all as it does with ports: 64 each.
type lapicPorts struct{ all []*LAPIC }

func (p lapicPorts) In(offset uint16, _ int) uint32 {
	return p.all[offset>>6].load(uint64(offset&63)<<4, 4)
}

func (p lapicPorts) Out(offset uint16, _ int, v uint32) {
	p.all[offset>>6].store(uint64(offset&63)<<4, 4, v*0x01010101)
}

// states is several devices as one.
type states []State

func (s states) Save(w io.Writer) error                        { return saveAll(w, s) }
func (s states) Parse(r io.Reader, now uint64) (func(), error) { return parseAll(r, now, s) }

func TestLAPICState(t *testing.T) {
	var ports []uint16
	for i := range uint16(2 * 64) {
		ports = append(ports, i)
	}
	testState(t, ports, func(r *rig) {
		l := newLAPICs(2)
		for _, a := range l.all {
			a.clock = &r.clock
		}
		r.bus.Mount(0, 2*64, 4, lapicPorts{l.all})
		r.dev = states{l.all[0], l.all[1], l.pic}
		r.poll = func() { l.all[0].Poll(); l.all[1].Poll() }
		r.prod = func(rng *rand.Rand) {
			l.pic.Line(rng.IntN(2)).Set(rng.IntN(2) == 0)
			for i := range l.cpus {
				r.note("%d: %v %v", i, l.acks(i), l.all[i].Next())
			}
		}
	})
}
