package cli

import (
	"errors"
	"fmt"
	"io"

	"trapline/emu/interleave"
	"trapline/kernel/source"
)

// A place is where a CPU is, innermost function first.
type place struct {
	CPU    int     `json:"cpu"`
	Frames []frame `json:"frames"`
}

// A frame is an address in the kernel, as its source has it.
type frame struct {
	PC       uint64 `json:"pc"`
	Function string `json:"function,omitempty"`
	Offset   uint64 `json:"offset"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Text     string `json:"text,omitempty"` // of the line
}

// A step is a switch: where the CPU is whose turn ends, and whose turn begins.
type step struct {
	place
	At     uint64 `json:"at"` // ns from the start of the schedule
	To     int    `json:"to"`
	Chosen bool   `json:"chosen"` // by the schedule
	Waits  bool   `json:"waits"`  // the CPU does, or is off; otherwise, if it is not chosen, it is far ahead
}

// depth is how many frames of a stack are shown.
const depth = 3

// A listener hears how the CPUs of a guest take turns, at the switches that its schedule has chosen
// and at the one after each.
type listener struct {
	steps []step
	after bool // the last switch was chosen
	ends  []place
	views view
	funcs map[uint64]*source.Function // by address
}

// attend has the listener hear of a guest.
func (l *listener) attend(g *guest) {
	*l = listener{funcs: map[uint64]*source.Function{}}
	g.turns.OnSwitch = func(s interleave.Switch, chosen bool) {
		if !chosen && !l.after {
			return
		}
		l.after = chosen
		l.steps = append(l.steps, step{l.place(g, s.CPU), s.At, s.To, chosen, g.machine.Waits(s.CPU)})
	}
}

// ended is called when the guest is at its end.
func (l *listener) ended(g *guest) {
	l.ends = nil
	for cpu := range g.machine.CPUs() {
		l.ends = append(l.ends, l.place(g, cpu))
	}
}

func (l *listener) place(g *guest, cpu int) place {
	regs := g.machine.RegsOf(cpu)
	pcs := []uint64{regs.Reg(g.Arch().PC), 0, 0}[:depth]
	n := 1
	if g.OS != nil {
		n = max(g.OS.Stack(g.machine, regs, pcs), 1)
	}
	p := place{CPU: cpu}
	for i, pc := range pcs[:n] {
		p.Frames = append(p.Frames, l.frame(g, pc, i > 0))
	}
	return p
}

// frame describes an address; that of a return belongs to the line of the call.
func (l *listener) frame(g *guest, pc uint64, returns bool) frame {
	f := frame{PC: pc}
	if g.Image == nil {
		return f
	}
	at := pc
	if returns {
		at--
	}
	s, ok := g.Image.Symtab().At(at)
	if !ok {
		return f
	}
	f.Function, f.Offset = s.Name, pc-s.Addr
	if l.views.img == nil {
		l.views, _ = g.view("") // without it there are no lines
	}
	if l.views.info == nil {
		return f
	}
	about := l.funcs[s.Addr]
	if about == nil {
		var err error
		if about, err = l.views.info.Function(s.Addr, s.Size); err != nil {
			return f
		}
		l.funcs[s.Addr] = about
	}
	line := about.At(at).Line
	f.File, f.Line, f.Text = line.File, line.Line, l.views.files.Text(line)
	return f
}

// listen runs the schedule that was found once more, to hear where the CPUs are.
func (x *exploring) listen(d *discovery) error {
	var l listener
	silent := *x.env
	silent.stdout, silent.stderr, silent.screen = io.Discard, io.Discard, nil
	x.t.guest.order.listener, x.t.guest.order.record = &l, ""
	var err error
	if x.program() == "dtrace" {
		err = silent.trace(&x.t)
	} else {
		err = silent.boot(x.t.guest)
	}
	var status *exit
	if len(l.ends) == 0 && err != nil && !errors.As(err, &status) {
		return err
	}
	d.Story, d.Ends = l.steps, l.ends
	return nil
}

// boot runs a guest with its symbols, if there are any.
func (e *env) boot(o guestOptions) error {
	g, err := e.newGuest(o, guestConfig{console: io.Discard, symbols: true})
	if err != nil {
		g, err = e.newGuest(o, guestConfig{console: io.Discard})
	}
	if err != nil {
		return err
	}
	defer g.close()
	return e.bootGuest(g)
}

// write describes a discovery in words.
func (d *discovery) write(out io.Writer) {
	fmt.Fprintf(out, "run %d: %s\n", d.Run, d.Finding.Text)
	if d.Run == 1 {
		fmt.Fprintf(out, "it has equal turns, as a run without explore: no order has to be looked for\n")
	}
	fmt.Fprintf(out, "%s for it, found in %d tries:\n\n", needed(d.Switches), d.Tried)
	for _, s := range d.Story {
		fmt.Fprintf(out, "%12.3f us  ", float64(s.At)/1e3)
		s.place.write(out)
		fmt.Fprintf(out, "%*s%s\n", indentation, "", s.change())
	}
	fmt.Fprintf(out, "\nin the end\n")
	for _, p := range d.Ends {
		fmt.Fprintf(out, "%*s", indentation, "")
		p.write(out)
	}
	fmt.Fprintf(out, "\nto see it again:\n\n  %s\n", d.Command)
}

const indentation = 17

// change is what a step does with turns, in words.
func (s step) change() string {
	switch {
	case s.Chosen:
		return fmt.Sprintf("loses its turn to CPU %d", s.To)
	case s.Waits:
		return fmt.Sprintf("waits, or is off, and CPU %d goes on", s.To)
	}
	return fmt.Sprintf("is far ahead, so CPU %d goes on", s.To)
}

func needed(switches int) string {
	switch switches {
	case 0:
		return "no switch is needed"
	case 1:
		return "1 switch is needed"
	}
	return fmt.Sprintf("%d switches are needed", switches)
}

// write describes where a CPU is: the first line goes on where one has been begun.
func (p place) write(out io.Writer) {
	fmt.Fprintf(out, "CPU %d  ", p.CPU)
	for i, f := range p.Frames {
		if i > 0 {
			fmt.Fprintf(out, "%*s       ", indentation, "")
		}
		fmt.Fprintf(out, "%s\n", f)
	}
}

func (f frame) String() string {
	text := fmt.Sprintf("0x%x", f.PC)
	if f.Function != "" {
		text = fmt.Sprintf("%s+%d", f.Function, f.Offset)
	}
	if f.Line > 0 {
		text += fmt.Sprintf("  %s:%d", f.File, f.Line)
	}
	if f.Text != "" {
		text += "  " + f.Text
	}
	return text
}
