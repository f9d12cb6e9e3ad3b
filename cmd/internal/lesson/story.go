package lesson

import (
	"fmt"
	"strings"

	"trapline/kernel/arch"
	"trapline/trampoline"
)

// A course is what the lesson has to say of an architecture.
type course struct {
	breakpoint string // the name of the breakpoint instruction
	trap       string // what the CPU does at one
	frame      []field
	mask       string // how the guest's interrupt mask reads
	masked     func(regs []uint64) bool
	double     bool // a slot ends in a second breakpoint
	// displaced is the displacement in an instruction that names an address relative to the
	// end of itself, and its size in bytes; 0 if there is none.
	displaced func(code []byte) (disp int64, size int)
}

// A field is a part of the state that the CPU saves when it traps.
type field struct {
	name string
	reg  arch.Reg
	what string
}

// courses has what a lesson says of each architecture.
var courses arch.Table[*course]

// Lesson tells the firing.
func (f *Firing) Lesson() Lesson {
	c, _ := courses.Of(f.arch())
	l := Lesson{Title: f.Probe + " fires, in " + f.Image}
	steps := []Step{f.located(), f.planned(), f.patched(c)}
	if f.Slot != nil {
		steps = append(steps, f.trampoline(c))
	}
	steps = append(steps, f.trapped(c), f.traced(), f.resumed(c), f.path(c))
	l.Steps = steps
	return l
}

// located shows where the probe is.
func (f *Firing) located() Step {
	s := Step{Title: "The instruction"}
	s.say("The probe is on the instruction at %s+%d, address 0x%x:", f.Function, f.Offset, f.PC)
	s.show(f.around(2)...)
	return s
}

// reasons say why an instruction gets its plan.
var reasons = map[trampoline.Kind]string{
	trampoline.Copy:     "It means the same at any address: neither does it name an address relative to itself nor does it save one. So it runs elsewhere as it is.",
	trampoline.Relocate: "It names an address relative to itself. Run elsewhere as it is, it would name another one. So it is rewritten for its new place.",
	trampoline.Emulate:  "It saves or needs its own address, and must not see that of a trampoline. So its effect is had by other means.",
	trampoline.Guest:    "It is a breakpoint of the guest's own. Nothing is displaced: when the probe has fired the trap is given to the guest.",
}

func (f *Firing) planned() Step {
	s := Step{Title: "The plan: " + f.Plan.Kind.String()}
	s.say("The breakpoint will cover the instruction, which must still have its effect. How, is decided now, when the probe is made; a firing decodes nothing.")
	s.say("%s", reasons[f.Plan.Kind])
	if do := f.Break.Do; do.Op != arch.OpNone {
		s.say("What the machine does for it (all registers are read first; next is the instruction behind):")
		s.show("  " + do.Text(f.arch()) + "\n")
	}
	return s
}

// patched shows the text before and after.
func (f *Firing) patched(c *course) Step {
	s := Step{Title: "The text is patched"}
	bp := f.arch().Breakpoint(int(f.Plan.Len))
	now := append(append([]byte{}, bp...), f.instr()[len(bp):]...)
	s.show(
		row("  before", f.isa.Text(f.Code[f.Offset:], f.PC, f.Name), f.instr()),
		row("  after", c.breakpoint, now),
	)
	s.say("Only instruction fetch sees the breakpoint. Loads, and so a kernel that checks or patches its own text, see the page as it was (-x patch=inplace writes into the guest's page, as a live tracer must).")
	return s
}

// trampoline shows the slot: figure 2 of the paper.
func (f *Firing) trampoline(c *course) Step {
	s := Step{Title: "The trampoline"}
	s.say("The probe has a slot of %d bytes at 0x%x, in memory that the guest does not have (figure 2 of the paper):", f.isa.SlotSize, f.Break.Slot)
	lines := f.inSlot(c)
	rule := "  +" + strings.Repeat("-", 74) + "\n"
	s.show(rule)
	for _, line := range lines {
		s.show("  |" + line)
	}
	s.show(rule)
	if c.double {
		s.say("It is the instruction and a second breakpoint: a jump back does not reach, and would need a register.")
	} else {
		s.say("It ends in a jump back behind the probe. The rest is filled with breakpoints, so that a stray jump stops at once.")
	}
	f.relocation(c, &s)
	return s
}

// relocation shows the displacement in place and in the slot.
func (f *Firing) relocation(c *course, s *Step) {
	if f.Plan.Kind != trampoline.Relocate || c.displaced == nil {
		return
	}
	n, err := f.isa.Length(f.Slot)
	if err != nil {
		return
	}
	old, size := c.displaced(f.instr())
	new, newSize := c.displaced(f.Slot[:n])
	if size == 0 || newSize == 0 {
		return
	}
	s.say("The displacement counts from the end of the instruction, which has moved; both name the same address:")
	s.show(displacement("in place", f.after(), old, size), displacement("in the slot", f.Break.Slot+uint64(n), new, newSize))
}

func displacement(where string, end uint64, disp int64, size int) string {
	sign, abs := "+", uint64(disp)
	if disp < 0 {
		sign, abs = "-", uint64(-disp)
	}
	return fmt.Sprintf("  %-12s 0x%x %s 0x%-10x = 0x%x   (%d bits)\n", where, end, sign, abs, end+uint64(disp), 8*size)
}

// trapped shows what the CPU does at the breakpoint.
func (f *Firing) trapped(c *course) Step {
	s := Step{Title: fmt.Sprintf("The trap, at %d.%09d s of the guest's time", f.At/1e9, f.At%1e9)}
	s.say("%s", c.trap)
	s.show(f.frame(c)...)
	s.say("The emulator asks whose breakpoint it is before it delivers anything. This one is ours, so the guest's own handler does not run and nothing is pushed: the frame above is what a tracer inside the kernel would find. Interrupts are %s here (%s), and stay so.", f.masked(c), c.mask)
	return s
}

func (f *Firing) frame(c *course) (lines []string) {
	for _, x := range c.frame {
		value := f.Before[x.reg]
		if x.reg == f.arch().PC {
			value += f.arch().BreakpointSkip
		}
		lines = append(lines, fmt.Sprintf("  %-8s 0x%016x  %s\n", x.name, value, x.what))
	}
	return lines
}

func (f *Firing) masked(c *course) string {
	if c.masked(f.Before) {
		return "off"
	}
	return "on"
}

// traced shows what D saw.
func (f *Firing) traced() Step {
	s := Step{Title: "The D program runs"}
	s.say("The guest stands still, on its clock too. A program sees the registers as the instruction will:")
	var lines []string
	for i, r := range f.arch().Args {
		lines = append(lines, fmt.Sprintf("  %-6s 0x%016x%s", f.arch().Regs[r].Name, f.Before[r], strings.Repeat("\n", i%2)))
	}
	s.show(strings.TrimRight(strings.Join(lines, ""), "\n") + "\n")
	return s
}

// resumed shows how the guest goes on.
func (f *Firing) resumed(c *course) Step {
	s := Step{Title: "The guest goes on"}
	switch do := f.Break.Do; {
	case f.Plan.Kind == trampoline.Guest:
		s.say("The trap is delivered to the guest as if no probe were there.")
	case f.Slot == nil:
		s.say("The machine carries the instruction out itself: %s.", do.Text(f.arch()))
	case c.double:
		s.say("The program counter is set to the slot, 0x%x. The instruction runs there, then the second breakpoint at 0x%x traps. Its address says which probe's slot it is: the machine sets the program counter to 0x%x, behind the probe. A tracer inside the kernel keeps the probe and the interrupt mask of each CPU between the two and turns interrupts off; here the mask stays the guest's own, and no interrupt is taken while a slot is run.",
			f.Break.Slot, f.Break.Slot+uint64(f.secondBreak()), f.after())
		if do.Op != arch.OpNone {
			s.say("While the slot runs: %s.", do.Text(f.arch()))
		}
	default:
		s.say("The program counter is set to the slot, 0x%x; its code does the rest, without another trap.", f.Break.Slot)
	}
	f.effect(&s)
	return s
}

// secondBreak is the offset of the second breakpoint in a slot: the last instruction.
func (f *Firing) secondBreak() int { return len(f.Slot) - 4 }

func (f *Firing) effect(s *Step) {
	if !f.Landed {
		s.say("The guest was not seen again in a function that has a symbol.")
		return
	}
	s.say("It goes on at %s, 0x%x. What the instruction has changed:", f.place(f.Next), f.Next)
	if all := f.changes(); len(all) > 0 {
		for _, c := range all {
			s.show(fmt.Sprintf("  %-8s 0x%016x -> 0x%016x\n", c.name, c.before, c.now))
		}
	} else {
		s.show("  no register but the program counter\n")
	}
	if f.Took == uint64(f.Plan.Len) {
		s.say("The guest's clock has gone on by %d ns, one for each byte of the instruction: the breakpoint, the D program and the way through the slot took none. The guest cannot tell that it was traced.", f.Took)
		return
	}
	s.say("The guest's clock has gone on by %d ns, not the %d of the instruction alone: it has faulted or repeated itself, or an interrupt came next, and other code of the guest has run.", f.Took, f.Plan.Len)
}

// path draws the way of control: figures 3 and 4 of the paper.
func (f *Firing) path(c *course) Step {
	figure, back := "figure 3", "jump"
	if c.double {
		figure, back = "figure 4", "trap"
	}
	s := Step{Title: "All of it in one picture (" + figure + " of the paper)"}
	text := f.isa.Text(f.Code[f.Offset:], f.PC, f.Name)
	next := "the guest goes on"
	if f.Landed {
		next = f.place(f.Next)
	}
	lines := []string{
		"  the kernel's text                  the tracer                     the trampoline\n",
		"  " + f.place(f.PC) + ": " + c.breakpoint + "\n",
		"        |------------- trap ------------> D program\n",
	}
	if f.Slot != nil {
		lines = append(lines,
			fmt.Sprintf("        |                                 pc = slot ----------------> 0x%x\n", f.Break.Slot),
			fmt.Sprintf("        |                                                             %s\n", firstText(f, text)))
		if c.double {
			lines = append(lines,
				fmt.Sprintf("        |                                     <-------- trap --------- %s\n", c.breakpoint),
				fmt.Sprintf("        |<-------------------------------- pc = 0x%x\n", f.after()))
		} else {
			lines = append(lines, fmt.Sprintf("        |<------------------------ %s --------------------------\n", back))
		}
	} else {
		lines = append(lines, fmt.Sprintf("        |<-------------------------------- the machine's part: %s\n", f.Break.Do.Text(f.arch())))
	}
	s.show(append(lines, "  "+next+"\n")...)
	return s
}

// firstText is the first instruction of the slot.
func firstText(f *Firing, or string) string {
	if text := f.isa.Text(f.Slot, f.Break.Slot, f.Name); text != "(bad)" {
		return text
	}
	return or
}
