package sdt

import (
	"encoding/binary"

	"trapline/kernel/ctypes"
	"trapline/probes"
)

// Conditions of known probes, on the arguments that these have. Where the image does not tell
// where the kernel keeps what a condition is about, the probe fires as if it held.

// sleeps tells of a switch (preempt, state) that the thread waits for something.
func sleeps(_ *Tracepoints, f *probes.Firing) bool {
	preempt, state := f.Args[0]&1 != 0, f.Args[1]
	f.Args = [10]uint64{}
	return !preempt && state != 0
}

// preempted tells of a switch that the thread would go on.
func preempted(t *Tracepoints, f *probes.Firing) bool { return !sleeps(t, f) }

// leads reports whether a thread is the first of its process.
func leads(t *Tracepoints, f *probes.Firing) bool {
	leader, ok := t.member(f.Args[0], "task_struct", "group_leader")
	return !ok || leader == f.Args[0]
}

func currentLeads(t *Tracepoints, f *probes.Firing) bool {
	f.Args = [10]uint64{t.Current(f.CPU)}
	first := leads(t, f)
	f.Args = [10]uint64{}
	return first
}

// Reasons of the end of a process: the manual's CLD_EXITED, CLD_KILLED, CLD_DUMPED.
const (
	cldExited = 1
	cldKilled = 2
	cldDumped = 3
)

// ends reports whether a thread is the last of its process to end, and why that ends: its wait
// status has the number of a signal, and a bit if there is a core file.
func ends(t *Tracepoints, f *probes.Firing) bool {
	task := f.Args[0]
	live, ok := t.member(task, "task_struct", "signal", "live", "counter")
	status, _ := t.member(task, "task_struct", "exit_code")
	f.Args = [10]uint64{cldExited}
	switch {
	case status&0x80 != 0:
		f.Args[0] = cldDumped
	case status&0x7f != 0:
		f.Args[0] = cldKilled
	}
	return !ok || uint32(live) == 0
}

// path gives, of a program that is about to be executed, its name.
func path(t *Tracepoints, f *probes.Firing) bool {
	f.Args[0], _ = t.member(f.Args[0], "linux_binprm", "filename")
	return true
}

// ignored tells of a signal that is sent (task, signal, result) that nothing comes of it.
func ignored(_ *Tracepoints, f *probes.Firing) bool {
	const resultIgnored = 1 // TRACE_SIGNAL_IGNORED, include/trace/events/signal.h
	result := f.Args[2]
	f.Args[2] = 0
	return uint32(result) == resultIgnored
}

// member is a member of the structure with this tag at an address; one that is a pointer leads
// to the member of the next name. It is not ok where there is no such thing.
func (t *Tracepoints) member(addr uint64, tag string, names ...string) (v uint64, ok bool) {
	if t.types == nil {
		return 0, false
	}
	typ, ok := t.types.Tagged(ctypes.Struct, tag)
	for i, name := range names {
		if !ok || !typ.IsStruct() {
			return 0, false
		}
		f, known := typ.Member(name)
		if !known || f.Bits > 0 {
			return 0, false
		}
		addr, typ = addr+uint64(f.Offset), f.Type
		last := i+1 == len(names)
		if last || typ.IsPointer() {
			if v, ok = t.word(addr, typ.Bytes()); !ok {
				return 0, false
			}
		}
		if typ.IsPointer() && !last {
			addr, typ = v, typ.Base().Elem
		}
	}
	return v, true
}

// word is an integer of the kernel's of up to 8 bytes.
func (t *Tracepoints) word(addr uint64, size int) (v uint64, ok bool) {
	var p [8]byte
	if size > len(p) || t.read(addr, p[:size]) != nil {
		return 0, false
	}
	return binary.LittleEndian.Uint64(p[:]), true
}
