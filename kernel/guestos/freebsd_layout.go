package guestos

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/kernel/ctypes"
	"trapline/kernel/debuginfo"
)

var le = binary.LittleEndian

// freebsdLayout is where FreeBSD keeps what a Thread has: offsets in bytes.
type freebsdLayout struct {
	curthread, self uint64 // in struct pcpu; self only on amd64: the area's own address

	tid, proc, ucred, frame, errno       uint64 // in struct thread
	pid, comm, parent, stats, flag, args uint64 // in struct proc
	start                                uint64 // in struct pstats
	uid, gid                             uint64 // in struct ucred
	argLength, argText                   uint64 // in struct pargs

	keepsErrno       bool
	groups           bool // gid is where a pointer to the groups is, before 15.0
	commSize         int
	inThread, inProc []span // the members that a Thread takes, together
	trap             trapLayout
}

// A trapLayout is where the kernel saves registers when it is entered.
type trapLayout struct {
	size  int
	place map[arch.Reg]int // offsets in struct trapframe
}

// freebsdTypes is what we need to know of the kernel's C types.
type freebsdTypes struct {
	layout *freebsdLayout
	err    error // why there is none; wraps ErrNoThread

	modules   freebsdModules
	noModules error // why there are none
	signals   freebsdSignals
	noSignals error // why there are none
}

// readFreeBSD reads the few structures from the image's debug information.
func readFreeBSD(img *kernel.Image, cache string) freebsdTypes {
	var t freebsdTypes
	all := debuginfo.New(img, cache, "")
	t.modules, t.noModules = freebsdModulesOf(all)
	t.signals, t.noSignals = freebsdSignalsOf(all)
	l, err := freebsdLayoutOf(all, img.Arch())
	if err != nil {
		t.err = fmt.Errorf("%w: kernel image %s: %w", ErrNoThread, img.Name(), err)
		return t
	}
	t.layout = l
	return t
}

func freebsdLayoutOf(all *debuginfo.Types, a *arch.Arch) (*freebsdLayout, error) {
	var l freebsdLayout
	err := cmp.Or(
		fields(all, "pcpu", member{"pc_curthread", 8, &l.curthread}),
		fields(all, "thread", member{"td_tid", 4, &l.tid}, member{"td_proc", 8, &l.proc},
			member{"td_ucred", 8, &l.ucred}, member{"td_frame", 8, &l.frame}),
		fields(all, "proc", member{"p_pid", 4, &l.pid}, member{"p_pptr", 8, &l.parent},
			member{"p_stats", 8, &l.stats}, member{"p_flag", 4, &l.flag}, member{"p_args", 8, &l.args}),
		fields(all, "pstats", member{"p_start", 16, &l.start}),
		fields(all, "ucred", member{"cr_uid", 4, &l.uid}), l.group(all),
		fields(all, "pargs", member{"ar_length", 4, &l.argLength}, member{"ar_args", 1, &l.argText}),
		l.command(all), l.trap.read(all, a),
	)
	if err == nil && a == arch.AMD64 {
		err = fields(all, "pcpu", member{"pc_prvspace", 8, &l.self})
	}
	if err != nil {
		return nil, err
	}
	l.inThread = together(span{l.tid, l.tid + 4}, span{l.proc, l.proc + 8}, span{l.ucred, l.ucred + 8})
	if l.keepsErrno = fields(all, "thread", member{"td_errno", 4, &l.errno}) == nil; l.keepsErrno {
		l.inThread = together(append(l.inThread, span{l.errno, l.errno + 4})...)
	}
	l.inProc = together(span{l.pid, l.pid + 4}, span{l.comm, l.comm + uint64(l.commSize)}, span{l.parent, l.parent + 8},
		span{l.stats, l.stats + 8}, span{l.flag, l.flag + 4})
	return &l, nil
}

// A member is one of a structure that must have size bytes, and where its offset is to be stored.
type member struct {
	name string
	size int
	off  *uint64
}

// fields stores the offsets of members of a structure.
func fields(all *debuginfo.Types, tag string, members ...member) error {
	s, err := structOf(all, tag)
	if err != nil {
		return err
	}
	for _, m := range members {
		if err := field(s, m.name, m.size, m.off); err != nil {
			return err
		}
	}
	return nil
}

// group finds the effective group: the first one of an array up to 14.x.
func (l *freebsdLayout) group(all *debuginfo.Types) error {
	err := fields(all, "ucred", member{"cr_gid", 4, &l.gid})
	if err != nil && fields(all, "ucred", member{"cr_groups", 8, &l.gid}) == nil {
		l.groups, err = true, nil
	}
	return err
}

// command finds the name of the program, whose size is the system's choice.
func (l *freebsdLayout) command(all *debuginfo.Types) error {
	s, err := structOf(all, "proc")
	if err != nil {
		return err
	}
	f, ok := s.Member("p_comm")
	if !ok || f.Type.Bytes() == 0 || f.Type.Bytes() > maxName {
		return fmt.Errorf("struct proc has no name of at most %d bytes", maxName)
	}
	l.commSize = f.Type.Bytes()
	return field(s, "p_comm", l.commSize, &l.comm)
}

// read finds where each register is saved.
func (t *trapLayout) read(all *debuginfo.Types, a *arch.Arch) error {
	s, err := structOf(all, "trapframe")
	if err != nil {
		return err
	}
	t.size, t.place = s.Bytes(), map[arch.Reg]int{}
	cpu, _ := freebsdCPUs.Of(a)
	for r := range arch.Reg(len(a.Regs)) {
		name, element := cpu.saved(r)
		if off, ok := trapMember(s, name, element); ok {
			t.place[r] = off
		}
	}
	if _, ok := t.place[a.PC]; !ok {
		return errors.New("struct trapframe does not have the program counter")
	}
	return nil
}

// trapMember is the offset of a member of 8 bytes, or of an element of an array of them.
func trapMember(s *ctypes.Type, name string, element int) (off int, ok bool) {
	f, ok := s.Member(name)
	if !ok || f.Offset > maxStruct || f.Type.Bytes() < 8*(element+1) {
		return 0, false
	}
	return f.Offset + 8*element, true
}

// at is the offset of a register in a struct trapframe, less than 0 if it is not there.
func (t *trapLayout) at(r arch.Reg) int {
	if off, ok := t.place[r]; ok {
		return off
	}
	return -1
}

// members are parts of a structure in the guest's memory.
type members struct{ b []byte }

// read reads these parts of the structure at an address.
func (m *members) read(mem Mem, at uint64, parts []span) error {
	if m.b == nil {
		m.b = make([]byte, parts[len(parts)-1].end)
	}
	for _, p := range parts {
		if err := mem.ReadMem(at+p.start, m.b[p.start:p.end]); err != nil {
			return err
		}
	}
	return nil
}

func (m *members) u64(off uint64) uint64 { return le.Uint64(m.b[off:]) }
func (m *members) s32(off uint64) int32  { return int32(le.Uint32(m.b[off:])) }
