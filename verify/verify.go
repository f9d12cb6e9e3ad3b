package verify

import (
	"errors"
	"fmt"
	"strings"

	"trapline/emu"
	"trapline/insn"
	"trapline/kernel"
	"trapline/kernel/arch"
	"trapline/trampoline"
)

// Config is what is verified.
type Config struct {
	Machine *emu.Machine // a guest that stands still in its kernel; it cannot run afterwards
	States  int          // of each instruction
	Seed    uint64
	// Pick tells which instructions are taken; nil: all of them.
	Pick func(pc uint64) bool
}

// A Verifier verifies the instructions of a guest.
type Verifier struct {
	Config
	isa     *trampoline.ISA
	rules   *rules
	stepper *emu.Stepper
	states  generator
	base    []byte // state of the CPU as it was
	slots   uint64 // where trampolines are
	next    uint64 // address of the next one
	report  *Report
}

// New makes a verifier.
func New(c Config) (*Verifier, error) {
	a := c.Machine.Arch()
	isa, err := trampoline.For(a)
	if err != nil {
		return nil, err
	}
	c.Machine.OnHit(func(arch.CPU, uint64) {})
	c.Machine.OnRewrite(func(uint64) {})
	states, ok := rulesOf.Of(a)
	if !ok {
		return nil, fmt.Errorf("verifying instructions of %s is not supported", a)
	}
	v := &Verifier{Config: c, isa: isa, rules: states}
	if v.stepper, err = c.Machine.Step(); err != nil {
		return nil, err
	}
	v.slots, _ = c.Machine.Slots()
	v.base = v.stepper.State()
	v.states = generator{rules: v.rules, regs: v.stepper.Regs()}
	for _, r := range v.rules.control {
		v.states.system = append(v.states.system, v.stepper.Regs().Reg(r))
	}
	v.furnish()
	return v, nil
}

// furnish puts addresses and numbers into the window.
func (v *Verifier) furnish() {
	addr, memory := v.stepper.Window()
	v.states.window, v.states.size = addr, uint64(len(memory))
	order := v.Machine.Arch().ByteOrder
	for i := 0; i+8 <= len(memory); i += 8 {
		word := special[i/8%len(special)]
		if i/8%3 == 0 {
			word = addr + uint64(i*37)%v.states.size
		}
		order.PutUint64(memory[i:], word)
	}
}

// Close frees what the verifier has.
func (v *Verifier) Close() { v.stepper.Close() }

// An instruction of the guest's text.
type instruction struct {
	fn   kernel.Symbol
	pc   uint64
	code []byte
	plan trampoline.Plan
	text string
}

func (in *instruction) mnemonic() string {
	words := strings.Fields(in.text)
	if len(words) > 1 && strings.HasPrefix(words[0], "rep") || words[0] == "lock" {
		return words[0] + " " + words[1]
	}
	return words[0]
}

// Function verifies the instructions of fn, from its start to where its bytes stop being
// instructions, and adds what comes of it to r.
func (v *Verifier) Function(fn kernel.Symbol, r *Report) error {
	v.report = r
	list, err := v.decode(fn)
	if err != nil {
		return err
	}
	r.Functions++
	v.next = v.slots
	planted, err := v.plant(list)
	if err != nil {
		return fmt.Errorf("%s: %w", fn.Name, err)
	}
	for _, in := range planted {
		v.instruction(in)
	}
	addrs := make([]uint64, len(planted))
	for i, in := range planted {
		addrs[i] = in.pc
	}
	return v.Machine.ClearBreaks(addrs)
}

// decode finds the instructions that are picked, and counts those that are refused.
func (v *Verifier) decode(fn kernel.Symbol) (list []*instruction, err error) {
	text := make([]byte, fn.Size)
	if err := v.Machine.ReadMem(fn.Addr, text); err != nil {
		return nil, fmt.Errorf("%s: %w", fn.Name, err)
	}
	err = v.isa.Walk(text, fn.Addr, func(off, n int) bool {
		pc := fn.Addr + uint64(off)
		if v.Pick == nil || v.Pick(pc) {
			code := text[off : off+n]
			list = append(list, &instruction{fn, pc, code, v.isa.Plan(code, pc), v.isa.Text(code, pc, nil)})
		}
		return true
	})
	if errors.Is(err, insn.ErrTruncated) || errors.Is(err, insn.ErrUndefined) || errors.Is(err, insn.ErrTooLong) {
		err = nil // data in the text
	}
	return list, err
}

// plant puts all of list behind breakpoints, and returns those for which that can be done.
func (v *Verifier) plant(list []*instruction) ([]*instruction, error) {
	var breaks []arch.Break
	var planted []*instruction
	for _, in := range list {
		v.report.Instructions++
		if in.plan.Kind == trampoline.Refuse {
			v.report.refuse(in, in.plan.Reason())
			continue
		}
		b := arch.Break{
			Addr: in.pc, Len: in.plan.Len, Guest: in.plan.Kind == trampoline.Guest,
			Do: v.isa.Do(in.plan, in.code, in.pc),
		}
		if in.plan.InSlot() {
			code, err := v.isa.Encode(in.plan, in.code, in.pc, v.next)
			if err != nil {
				v.report.refuse(in, "it is too far from its trampoline")
				continue
			}
			for len(code) < v.isa.SlotSize {
				code = append(code, v.isa.Fill...)
			}
			if err := v.Machine.WriteSlots(v.next, code); err != nil {
				return nil, err
			}
			b.Slot = v.next
			v.next += uint64(v.isa.SlotSize)
		}
		breaks, planted = append(breaks, b), append(planted, in)
	}
	return planted, v.Machine.SetBreaks(breaks)
}

func (v *Verifier) instruction(in *instruction) {
	row := v.report.row(in.mnemonic(), in.plan.Kind.String())
	row.Instructions++
	for n := range v.States {
		row.States++
		state, interrupt := v.state(in, n)
		place, why := v.compare(state, interrupt)
		v.report.count(place)
		if why != "" {
			row.Mismatches++
			v.report.mismatch(v.describe(in, n, state, interrupt, why))
			return
		}
	}
}

// state makes state n of an instruction.
func (v *Verifier) state(in *instruction, n int) (state []byte, interrupt bool) {
	v.stepper.SetState(v.base)
	interrupt = v.states.make(v.Seed, in.pc, in.text, n)
	return v.stepper.State(), interrupt
}

// compare executes both ways and says in what they differ.
func (v *Verifier) compare(state []byte, interrupt bool) (place emu.Outcome, why string) {
	place = v.stepper.Step(state, emu.How{Interrupt: interrupt})
	away := v.stepper.Step(state, emu.How{Interrupt: interrupt, Displaced: true})
	return place, place.Differ(away)
}

// describe makes the state that shows a mismatch as small as it gets: each register is put
// back to what it was before, if the mismatch remains.
func (v *Verifier) describe(in *instruction, n int, state []byte, interrupt bool, why string) Mismatch {
	a := v.Machine.Arch()
	regs := v.stepper.Regs()
	if _, w := v.compare(state, false); interrupt && w != "" {
		interrupt, why = false, w
	}
	m := Mismatch{
		Function: in.fn.Name, Offset: in.pc - in.fn.Addr, Code: fmt.Sprintf("%x", in.code), Text: in.text,
		Plan: in.plan.Kind.String(), State: n, Interrupt: interrupt,
	}
	for _, r := range append([]arch.Reg{a.SP, a.Flags}, v.rules.general...) {
		v.stepper.SetState(v.base)
		neutral := regs.Reg(r)
		v.stepper.SetState(state)
		value := regs.Reg(r)
		if value == neutral {
			continue
		}
		regs.SetReg(r, neutral)
		smaller := v.stepper.State()
		if _, w := v.compare(smaller, interrupt); w != "" {
			state, why = smaller, w
			continue
		}
		m.Registers = append(m.Registers, Register{a.Regs[r].Name, value})
	}
	m.Why = why
	return m
}
