package sdt

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"trapline/kernel/ctypes"
	"trapline/kernel/guestos"
	"trapline/probes"
)

// tasks are the types of a kernel with
//
//	struct task_struct { int exit_code; struct task_struct *group_leader; struct signal *signal; };
//	struct signal { struct { int counter; } live; };
type tasks struct{}

func (tasks) Function(string) (*ctypes.Type, bool) { return nil, false }

func (tasks) Tagged(_ ctypes.Kind, tag string) (*ctypes.Type, bool) {
	atomic := &ctypes.Type{Kind: ctypes.Struct, Size: 4, Fields: []ctypes.Field{{Name: "counter", Type: ctypes.IntType}}}
	signal := &ctypes.Type{Kind: ctypes.Struct, Size: 4, Fields: []ctypes.Field{{Name: "live", Type: atomic}}}
	task := &ctypes.Type{Kind: ctypes.Struct, Name: "task_struct", Size: 24}
	task.Fields = []ctypes.Field{
		{Name: "exit_code", Type: ctypes.IntType},
		{Name: "group_leader", Type: ctypes.PointerTo(task), Offset: 8},
		{Name: "signal", Type: ctypes.PointerTo(signal), Offset: 16},
	}
	return task, tag == "task_struct"
}

// Reasons of the end of a process: CLD_EXITED, CLD_KILLED, CLD_DUMPED.
const (
	exited = 1
	killed = 2
	dumped = 3
)

// when is the condition of a known probe of Linux.
func when(name string) func(guestos.Kernel, *[10]uint64) bool {
	all := guestos.Linux.Tracepoints.Known
	return all[slices.IndexFunc(all, func(k guestos.Known) bool { return k.Name == name })].When
}

func TestConditions(t *testing.T) {
	memory := map[uint64]uint64{
		0x1000: 9, 0x1008: 0x1000, 0x1010: 0x3000, // killed, a leader
		0x2000: 0x500, 0x2008: 0x1000, 0x2010: 0x3004, // exited, another thread
		0x3000: 0, 0x3004: 1, // threads alive
		0x4000: 0x86, 0x4010: 0x3000, // killed, with a core file
	}
	points := &Tracepoints{types: tasks{}, read: func(addr uint64, p []byte) error {
		v, ok := memory[addr]
		if !ok {
			return errors.New("nothing is there")
		}
		copy(p, binary.LittleEndian.AppendUint64(nil, v))
		return nil
	}}
	unknown := &Tracepoints{read: points.read}
	for _, test := range []struct {
		name   string
		known  string
		points *Tracepoints
		args   [3]uint64
		fires  bool
		want   uint64 // args[0]
	}{
		{"a switch from a thread that sleeps", "sleep", points, [3]uint64{0, 2}, true, 0},
		{"a preemption is no sleep", "sleep", points, [3]uint64{1, 2}, false, 0},
		{"a preemption", "preempt", points, [3]uint64{1, 2}, true, 0},
		{"a leader", "create", points, [3]uint64{0x1000}, true, 0x1000},
		{"no leader", "create", points, [3]uint64{0x2000}, false, 0x2000},
		{"a thread of a kernel without types", "create", unknown, [3]uint64{0x2000}, true, 0x2000},
		{"the last thread, killed", "exit", points, [3]uint64{0x1000}, true, killed},
		{"not the last thread", "exit", points, [3]uint64{0x2000}, false, exited},
		{"the last thread, with a core file", "exit", points, [3]uint64{0x4000}, true, dumped},
		{"a signal that is ignored", "signal-discard", points, [3]uint64{0x1000, 15, 1}, true, 0x1000},
		{"a signal that is delivered", "signal-discard", points, [3]uint64{0x1000, 15, 0}, false, 0x1000},
	} {
		f := &probes.Firing{Args: [10]uint64{test.args[0], test.args[1], test.args[2]}}
		if fires := when(test.known)(test.points, &f.Args); fires != test.fires || f.Args[0] != test.want {
			t.Errorf("%s: fires %v with %#x, want %v with %#x", test.name, fires, f.Args[0], test.fires, test.want)
		}
	}
}
