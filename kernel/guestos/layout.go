package guestos

import (
	"cmp"
	"fmt"
	"slices"

	"trapline/kernel"
	"trapline/kernel/ctypes"
	"trapline/kernel/debuginfo"
)

// layout is where Linux keeps what a Thread has: offsets in bytes.
type layout struct {
	// in task_struct
	pid, tgid, comm, parent, cred, startTime uint64
	// in struct cred
	uid, gid uint64

	// The parts of a task_struct that hold the first group. A read of several members that are
	// near each other is faster than one for each; what lies between others changes all
	// the time, and would be read in vain.
	parts []span
}

// A span is bytes of a structure, [start, end).
type span struct{ start, end uint64 }

// nearby is how many bytes may lie between members that are read together.
const nearby = 32

// together makes spans of members: those that are near each other are one.
func together(members ...span) (out []span) {
	slices.SortFunc(members, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	for _, m := range members {
		if n := len(out); n > 0 && m.start <= out[n-1].end+nearby {
			out[n-1].end = max(out[n-1].end, m.end)
		} else {
			out = append(out, m)
		}
	}
	return out
}

// types is what we need to know of the kernel's C types.
type types struct {
	layout *layout
	err    error // why there is no layout; wraps ErrNoThread
	orcEnd bool  // struct orc_entry has the member end
	process
	signals
	noSignals error // why there are no signals
	modules
	noModules error // why there are none
}

// readTypes reads the few structures from the image's BTF, or from its DWARF.
func readTypes(img *kernel.Image, cache string) types {
	all := debuginfo.New(img, cache, "")
	t := types{orcEnd: before6_4(img)}
	var err error
	if t.layout, err = layoutOf(all); err != nil {
		t.err = fmt.Errorf("%w: kernel image %s: %w", ErrNoThread, img.Name(), err)
	}
	t.process = processOf(all)
	t.signals, t.noSignals = signalsOf(all)
	t.modules, t.noModules = modulesOf(all)
	if entry, ok := all.Tagged(ctypes.Struct, "orc_entry"); ok {
		_, t.orcEnd = entry.Member("end")
	}
	return t
}

// before6_4 reports, by the image's banner, whether struct orc_entry has its older form.
func before6_4(img *kernel.Image) bool {
	var major, minor int
	fmt.Sscanf(img.Banner(linuxBanner), "Linux version %d.%d", &major, &minor)
	return cmp.Or(cmp.Compare(major, 6), cmp.Compare(minor, 4)) < 0
}

func layoutOf(all *debuginfo.Types) (*layout, error) {
	var l layout
	task, err := structOf(all, "task_struct")
	if err != nil {
		return nil, err
	}
	cred, err := structOf(all, "cred")
	if err != nil {
		return nil, err
	}
	err = cmp.Or(
		field(task, "pid", 4, &l.pid), field(task, "tgid", 4, &l.tgid),
		field(task, "comm", 16, &l.comm), field(task, "real_parent", 8, &l.parent),
		field(task, "cred", 8, &l.cred), field(task, "start_time", 8, &l.startTime),
		field(cred, "uid", 4, &l.uid), field(cred, "gid", 4, &l.gid),
	)
	if err != nil {
		return nil, err
	}
	l.parts = together(
		span{l.pid, l.pid + 4}, span{l.tgid, l.tgid + 4}, span{l.comm, l.comm + 16},
		span{l.parent, l.parent + 8}, span{l.cred, l.cred + 8}, span{l.startTime, l.startTime + 8},
	)
	return &l, nil
}

func structOf(all *debuginfo.Types, tag string) (*ctypes.Type, error) {
	t, ok := all.Tagged(ctypes.Struct, tag)
	switch {
	case ok:
		return t, nil
	case all.Err() != nil:
		return nil, all.Err()
	}
	return nil, fmt.Errorf("struct %s is in neither BTF, CTF nor DWARF", tag)
}

// maxStruct is no less than the bytes of any structure of a kernel. An offset in one says how much
// memory is read in one go.
const maxStruct = 1 << 20

// field stores the offset of a member, which must have size bytes.
func field(s *ctypes.Type, name string, size int, off *uint64) error {
	f, ok := s.Member(name)
	if !ok {
		return fmt.Errorf("struct %s has no member %s", s.Name, name)
	}
	if n := f.Type.Bytes(); n != size {
		return fmt.Errorf("member %s of struct %s has %d bytes, not %d", name, s.Name, n, size)
	}
	if f.Offset > maxStruct {
		return fmt.Errorf("member %s of struct %s is %d bytes from its start, more than %d", name, s.Name, f.Offset, maxStruct)
	}
	*off = uint64(f.Offset)
	return nil
}
