package vm

import (
	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
)

// A speculation is records that wait for commit or discard. Its buffers, one for each CPU,
// are made when they are first needed.
type speculation struct {
	active bool
	bufs   []*buffer.Buffer
}

// speculation gives the number of a free speculation, from 1, and takes it; 0 if there is
// none.
func (m *Machine) speculation() uint64 {
	for i := range m.specs {
		if s := &m.specs[i]; !s.active {
			s.active = true
			return uint64(i + 1)
		}
	}
	m.SpecFails++
	return 0
}

// spec finds a speculation by its number. That of 0, of one that was committed or
// discarded, and of one not taken, is nil; a number over nspec is a fault.
func (f *frame) spec(n uint64) (s *speculation, ok bool) {
	switch {
	case n > uint64(len(f.m.specs)):
		return nil, f.fail(IllegalOp, 0)
	case n == 0 || !f.m.specs[n-1].active:
		return nil, true
	}
	return &f.m.specs[n-1], true
}

// speculating runs a speculate, commit or discard action. After a speculate without a
// speculation the rest of the clause does not run: on is false.
func (f *frame) speculating(a *action) (on, ok bool) {
	n, ok := f.run(a.Args[0])
	if !ok {
		return false, false
	}
	n = narrow(n, a.Args[0].Type)
	if a.Act == code.Speculate && n > uint64(len(f.m.specs)) {
		return false, true
	}
	s, ok := f.spec(n)
	if !ok {
		return false, false
	}
	switch {
	case a.Act == code.Speculate:
		return f.speculateInto(s), true
	case s == nil:
		return true, true
	case a.Act == code.Commit:
		s.commit(f.m.bufs)
	}
	s.free()
	return true, true
}

// speculateInto has what the clause records go to s. It reports whether the clause goes on: s is
// there, and has room for the record.
func (f *frame) speculateInto(s *speculation) bool {
	if f.into = nil; s == nil {
		return false
	}
	if s.buffer(f.m, f.env.CPU()).Reserve(f.size) == nil {
		f.m.SpecDrops++
		return false
	}
	f.into = s
	return true
}

func (s *speculation) commit(to []*buffer.Buffer) {
	for cpu, b := range s.bufs {
		if b != nil {
			to[cpu].Append(b)
		}
	}
}

func (s *speculation) free() {
	s.active = false
	for _, b := range s.bufs {
		if b != nil {
			b.Reset()
		}
	}
}

// speculate runs the actions of a clause that has a speculate action: what it records goes
// to the speculation that the action has named, if that is still there at the end.
func (f *frame) speculate(c *clause, epid uint32) bool {
	if len(f.rec) < c.layout.Size {
		f.rec = make([]byte, c.layout.Size)
	}
	f.into, f.size = nil, c.layout.Size
	if !f.actions(c, f.rec) {
		return false
	}
	if f.into == nil || !f.into.active || c.layout.Size == 0 {
		return true
	}
	b := f.into.buffer(f.m, f.env.CPU())
	rec := b.Reserve(c.layout.Size)
	if rec == nil {
		f.m.SpecDrops++
		return true
	}
	copy(rec, f.rec[:c.layout.Size])
	b.Commit(c.layout.Size, buffer.Header{EPID: epid, Time: f.env.Now()})
	return true
}

func (s *speculation) buffer(m *Machine, cpu int) *buffer.Buffer {
	if s.bufs == nil {
		s.bufs = make([]*buffer.Buffer, len(m.bufs))
	}
	if s.bufs[cpu] == nil {
		s.bufs[cpu] = buffer.New(cpu, m.cfg.SpecSize)
	}
	return s.bufs[cpu]
}
