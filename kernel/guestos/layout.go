package guestos

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"github.com/cilium/ebpf/btf"

	"trapline/kernel"
)

// layout is where Linux keeps what a Thread tells: offsets in bytes.
type layout struct {
	// in task_struct
	pid, tgid, comm, parent, cred, startTime uint64
	// in struct cred
	uid, gid uint64

	// The part of a task_struct that holds all of the first group. One read of it is
	// faster than six small ones.
	start, end uint64
}

// types is what we need to know of the kernel's C types.
type types struct {
	layout *layout
	err    error // why there is no layout; wraps ErrNoThread
	orcEnd bool  // struct orc_entry has the member end
	process
}

func readTypes(img *kernel.Image) types {
	spec, err := readBTF(img)
	if err != nil {
		return types{err: fmt.Errorf("%w: kernel image %s: %w", ErrNoThread, img.Name(), err), orcEnd: before6_4(img)}
	}
	t := types{orcEnd: before6_4(img)}
	if t.layout, err = layoutOf(spec); err != nil {
		t.err = fmt.Errorf("%w: kernel image %s: BTF: %w", ErrNoThread, img.Name(), err)
	}
	t.process = processOf(spec)
	if entry := structOf(spec, "orc_entry"); entry.err == nil {
		_, _, t.orcEnd = member(entry.Members, "end")
	}
	return t
}

// before6_4 tells by the image's banner when struct orc_entry had its older form.
func before6_4(img *kernel.Image) bool {
	var major, minor int
	fmt.Sscanf(img.Version(), "Linux version %d.%d", &major, &minor)
	return cmp.Or(cmp.Compare(major, 6), cmp.Compare(minor, 4)) < 0
}

func layoutOf(spec *btf.Spec) (*layout, error) {
	var l layout
	task := structOf(spec, "task_struct")
	cred := structOf(spec, "cred")
	err := cmp.Or(
		task.field("pid", 4, &l.pid), task.field("tgid", 4, &l.tgid),
		task.field("comm", 16, &l.comm), task.field("real_parent", 8, &l.parent),
		task.field("cred", 8, &l.cred), task.field("start_time", 8, &l.startTime),
		cred.field("uid", 4, &l.uid), cred.field("gid", 4, &l.gid),
	)
	if err != nil {
		return nil, err
	}
	l.start = min(l.pid, l.tgid, l.comm, l.parent, l.cred, l.startTime)
	l.end = max(l.pid, l.tgid, l.comm+8, l.parent, l.cred, l.startTime) + 8
	return &l, nil
}

// readBTF reads the image's type information (4 MB in a distribution's kernel, 40 ms).
// The caller lets go of it soon.
func readBTF(img *kernel.Image) (*btf.Spec, error) {
	raw, _, ok := img.Section(".BTF")
	if !ok || len(raw) == 0 {
		return nil, errors.New("it has no section .BTF")
	}
	spec, err := btf.LoadSpecFromReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("BTF: %w", err)
	}
	return spec, nil
}

// structure is a C structure, or why there is none.
type structure struct {
	*btf.Struct
	err error
}

func structOf(spec *btf.Spec, name string) structure {
	var s structure
	s.err = spec.TypeByName(name, &s.Struct)
	return s
}

// field stores the offset of a member, which must have size bytes.
func (s structure) field(name string, size int, off *uint64) error {
	if s.err != nil {
		return s.err
	}
	at, typ, ok := member(s.Members, name)
	if !ok {
		return fmt.Errorf("struct %s has no member %s", s.Name, name)
	}
	if n, err := btf.Sizeof(typ); err != nil || n != size {
		return fmt.Errorf("member %s of struct %s has %d bytes, not %d", name, s.Name, n, size)
	}
	*off = at
	return nil
}

// member finds a member also in anonymous structures, which layout randomization and
// unions bring.
func member(members []btf.Member, name string) (off uint64, typ btf.Type, ok bool) {
	for _, m := range members {
		at := uint64(m.Offset.Bytes())
		if m.Name == name {
			return at, m.Type, true
		}
		if m.Name != "" {
			continue
		}
		if inner, typ, ok := member(membersOf(m.Type), name); ok {
			return at + inner, typ, true
		}
	}
	return 0, nil, false
}

func membersOf(t btf.Type) []btf.Member {
	switch t := btf.UnderlyingType(t).(type) {
	case *btf.Struct:
		return t.Members
	case *btf.Union:
		return t.Members
	}
	return nil
}
