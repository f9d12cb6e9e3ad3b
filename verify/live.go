package verify

import (
	"bytes"
	"errors"
	"maps"
	"slices"

	"trapline/kernel"
	"trapline/kernel/arch"
)

// Live verifies instructions in states that a running guest brings them into: each of funcs'
// when the guest comes to it for the first time. run runs the guest until it stops, and tells
// whether it can go on. The guest notices nothing.
func (v *Verifier) Live(funcs []kernel.Symbol, r *Report, run func() (more bool, err error)) error {
	l := &live{Verifier: v, at: map[uint64]*instruction{}, on: map[uint64][]uint64{}, seen: map[uint64]bool{}}
	if err := l.plantAll(funcs); err != nil {
		return err
	}
	v.Machine.OnHit(func(_ arch.CPU, addr uint64) {
		l.hit = addr
		v.Machine.StopHere()
	})
	v.Machine.OnRewrite(l.forget)
	v.report = r
	var err error
	for more := true; more && err == nil; {
		l.hit = 0
		more, err = run()
		if err == nil && l.hit != 0 {
			err = l.verify(l.at[l.hit])
		} else {
			more = false // the guest has stopped for another reason
		}
	}
	return errors.Join(err, v.Machine.ClearBreaks(slices.Collect(maps.Keys(l.at))))
}

// live is the state of Live.
type live struct {
	*Verifier
	at   map[uint64]*instruction // that the guest has not come to, by address
	on   map[uint64][]uint64     // addresses of those with a byte on a page, by its address
	seen map[uint64]bool         // functions that it has come to, by address
	hit  uint64                  // where the guest has stopped
}

func (l *live) page(addr uint64) uint64 { return addr &^ (l.Machine.Arch().PageSize - 1) }

func (l *live) plantAll(funcs []kernel.Symbol) error {
	l.report = new(Report) // what is refused is for the other states to tell
	l.next = l.slots
	for _, fn := range funcs {
		list, err := l.decode(fn)
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(in *instruction) bool { return l.at[in.pc] != nil }) // by another name
		planted, err := l.plant(list)
		if err != nil {
			return err
		}
		for _, in := range planted {
			l.at[in.pc] = in
			first, last := l.page(in.pc), l.page(in.pc+uint64(in.plan.Len)-1)
			l.on[first] = append(l.on[first], in.pc)
			if last != first {
				l.on[last] = append(l.on[last], in.pc)
			}
		}
	}
	return nil
}

// forget gives up the instructions of a page that the guest rewrites.
func (l *live) forget(page uint64) {
	l.Machine.ClearBreaks(l.on[page])
	delete(l.on, page)
}

// verify verifies in, the guest's next instruction, and takes its breakpoint away.
func (l *live) verify(in *instruction) error {
	code := make([]byte, len(in.code))
	if err := l.Machine.ReadMem(in.pc, code); err != nil {
		return err
	}
	if bytes.Equal(code, in.code) {
		if err := l.stepper.Aside(func() { l.both(in) }); err != nil {
			return err
		}
	}
	delete(l.at, in.pc)
	return l.Machine.ClearBreaks([]uint64{in.pc})
}

// both compares in the state that there is, and in the same with an interrupt that waits.
func (l *live) both(in *instruction) {
	if !l.seen[in.fn.Addr] {
		l.seen[in.fn.Addr] = true
		l.report.Functions++
	}
	l.report.Instructions++
	row := l.report.row(in.mnemonic(), in.plan.Kind.String())
	row.Instructions++
	state := l.stepper.State()
	for n, interrupt := range []bool{false, true} {
		row.States++
		place, why := l.compare(state, interrupt)
		l.report.count(place)
		if why != "" {
			row.Mismatches++
			l.report.mismatch(l.describe(in, n, state, interrupt, why))
			return
		}
	}
}
