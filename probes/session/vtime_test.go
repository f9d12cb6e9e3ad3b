package session

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes"
	"trapline/probes/probetest"
)

const switchAt = 0xffffffff81000300

// The time of a thread stands still while another one runs.
func TestVTimestamp(t *testing.T) {
	r := newRig(t, "quiet")
	err := r.trace(func(g *probetest.Target) {
		for range 3 {
			for thread := range uint64(2) {
				g.CPU.SetReg(arch.RBX, thread)
				g.Advance(10 + thread)
				g.Run(vfsRead, 0xffffffff81000300)
			}
		}
	}, spec(`kinst::vfs_read:0 { printf("%d ", vtimestamp); }`))
	if want := "10 11 20 22 30 33 \n"; err != nil || r.out.String() != want {
		t.Errorf("%q %v, want %q", r.out.String(), err, want)
	}
}

// What chill() takes does not count, as nothing does that the tracer does.
func TestVTimestampChill(t *testing.T) {
	r := newRig(t, "quiet", "destructive")
	err := r.trace(func(g *probetest.Target) {
		for range 3 {
			g.Advance(10)
			g.Run(vfsRead)
		}
	}, spec(`kinst::vfs_read:0 { chill(1000); printf("%d %d, ", vtimestamp, timestamp); }`))
	if want := "10 1010, 20 2020, 30 3030, \n"; err != nil || r.out.String() != want {
		t.Errorf("%q %v, want %q", r.out.String(), err, want)
	}
}

// cpuOS has on each CPU the thread whose number, and perhaps structure, registers hold.
type cpuOS struct{ fakeOS }

func (cpuOS) Thread(_ guestos.Mem, r arch.Regs) (guestos.Thread, error) {
	id := r.Reg(arch.RBX)
	return guestos.Thread{Key: 1 + id, TID: int(id), Addr: cmp.Or(r.Reg(arch.RCX), 1000*id)}, nil
}

// commonOS has one thread for all CPUs.
type commonOS struct{ threadOS }

func (commonOS) OneThread() bool { return true }

// newSMPRig is a rig of a guest with several CPUs.
func newSMPRig(t testing.TB, cpus int, opts ...string) (*rig, *probetest.SMP) {
	t.Helper()
	var smp *probetest.SMP
	r := newRigOn(t, func(target *probetest.Target) probes.Target {
		smp = probetest.NewSMP(target, cpus)
		return smp
	}, opts...)
	r.setOS(cpuOS{})
	r.Options.CPUs = cpus
	return r, smp
}

// A switch on one CPU is none on another, and each CPU has its own clock: that of the second is
// behind the first's when the trace begins.
func TestVTimestampCPUs(t *testing.T) {
	r, smp := newSMPRig(t, 2, "quiet")
	smp.On(0).Regs[arch.RBX] = 10
	smp.On(1).Regs[arch.RBX] = 20
	smp.On(0)
	smp.Spend(1000)
	err := r.trace(func(*probetest.Target) {
		smp.On(1)
		smp.Spend(900)
		smp.Run(switchAt, vfsRead) // 20, which the trace has not seen: its clock is at 900
		smp.Spend(300)
		smp.Run(vfsRead) // 20: 300
		smp.On(0)
		smp.Spend(50)
		smp.Run(vfsRead) // 10: 50
		smp.On(1)
		smp.Spend(100)
		smp.Run(switchAt) // from 20, with 400
		smp.On(1).Regs[arch.RBX] = 30
		smp.Spend(5)
		smp.On(0)
		smp.Spend(7)
		smp.Run(vfsRead, switchAt) // 10: 57
		smp.On(0).Regs[arch.RBX] = 20
		smp.Spend(1)
		smp.Run(vfsRead) // 20: 401
		smp.On(1)
		smp.Run(vfsRead) // 30: 5
	}, spec(`kinst::vfs_read:0 { printf("%d:%d ", tid, vtimestamp); }`))
	// What CPU 0 has told comes first.
	if want := "10:50 10:57 20:401 20:0 20:300 30:5 \n"; err != nil || r.out.String() != want || smp.Err != nil {
		t.Errorf("%q, want %q; %v, %v", r.out.String(), want, err, smp.Err)
	}
}

// Where all CPUs are in one thread its time goes on by the clock of the CPU that asks.
func TestVTimestampCommon(t *testing.T) {
	r, smp := newSMPRig(t, 2, "quiet")
	r.setOS(commonOS{})
	enter := func(pid uint64) { smp.Map(thread, binary.LittleEndian.AppendUint64(nil, pid)) }
	enter(1)
	err := r.trace(func(*probetest.Target) {
		smp.Spend(100)
		smp.Run(vfsRead) // 100
		smp.On(1)
		smp.Spend(90)
		smp.Run(vfsRead) // it has been 100
		smp.Spend(30)
		smp.Run(vfsRead) // 120
		smp.On(0)
		smp.Spend(10)
		smp.Run(switchAt) // from a thread with 110, or 120
		enter(2)
		smp.Run(vfsRead) // 0
		smp.On(1)
		smp.Spend(5)
		smp.Run(vfsRead) // 15
	}, spec(`kinst::vfs_read:0 { printf("%d:%d ", pid, vtimestamp); }`))
	// What CPU 0 has told comes first.
	if want := "1:100 2:0 1:100 1:120 2:15 \n"; err != nil || r.out.String() != want || smp.Err != nil {
		t.Errorf("%q, want %q; %v, %v", r.out.String(), want, err, smp.Err)
	}
}

// Threads come and go on several CPUs, in structures that are used again. What vtimestamp says is
// what each of them has run, and what is kept does not grow.
func TestVTimestampThreads(t *testing.T) {
	const cpus, structures, steps = 4, 16, 20000
	r, smp := newSMPRig(t, cpus, "quiet")
	rnd := rand.New(rand.NewPCG(1, 2))
	ran := map[uint64]uint64{} // by thread
	owner := make([]uint64, structures)
	busy := make([]bool, structures)
	on := make([]int, cpus)      // structure of the thread that it runs
	want := make([]string, cpus) // what each CPU prints
	next := uint64(0)
	enter := func(cpu, structure int) {
		on[cpu], busy[structure] = structure, true
		if owner[structure] == 0 || rnd.IntN(3) == 0 { // another thread than before
			next++
			owner[structure] = next
		}
		smp.All[cpu].Regs[arch.RBX], smp.All[cpu].Regs[arch.RCX] = owner[structure], uint64(1+structure)
	}
	for cpu := range cpus {
		enter(cpu, cpu)
	}
	err := r.trace(func(*probetest.Target) {
		for range steps {
			cpu := rnd.IntN(cpus)
			smp.On(cpu)
			d := rnd.Uint64N(1000)
			smp.Spend(d)
			ran[owner[on[cpu]]] += d
			if rnd.IntN(2) == 0 {
				smp.Run(vfsRead)
				want[cpu] += fmt.Sprintln(cpu, owner[on[cpu]], ran[owner[on[cpu]]])
				continue
			}
			smp.Run(switchAt)
			busy[on[cpu]] = false
			to := rnd.IntN(structures)
			for busy[to] {
				to = rnd.IntN(structures)
			}
			enter(cpu, to)
		}
		if n := r.Session.trace.Timed(); n != structures {
			t.Errorf("%d threads are kept of %d, in %d structures", n, next, structures)
		}
	}, spec(`kinst::vfs_read:0 { printf("%d %d %d\n", cpu, tid, vtimestamp); }`))
	if err != nil || smp.Err != nil {
		t.Fatal(err, smp.Err)
	}
	if got := strings.TrimSuffix(r.out.String(), "\n"); got != strings.Join(want, "") {
		t.Errorf("%d threads: %s", next, firstDifference(got, strings.Join(want, "")))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "line " + strconv.Itoa(i+1) + ": " + g[i] + ", want " + w[i]
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// With several CPUs a firing that reads vtimestamp comes at once; others may come later.
func TestVTimestampDefer(t *testing.T) {
	r, smp := newSMPRig(t, 2, "quiet")
	err := r.trace(func(*probetest.Target) {
		for range 3 {
			smp.Spend(10)
			smp.Run(vfsRead, vfsRead+1)
		}
		if n := smp.Deferring(); n != 1 {
			t.Errorf("%d are deferred", n)
		}
	}, spec(`kinst::vfs_read:0 { @ = max(vtimestamp); } kinst::vfs_read:1 { @n = sum(timestamp); }`))
	if want := "\n               30\n               60\n"; err != nil || r.out.String() != want {
		t.Errorf("%q, %v, want %q", r.out.String(), err, want)
	}
}
