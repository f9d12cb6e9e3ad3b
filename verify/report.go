package verify

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"trapline/emu"
)

// A Report is what came of a verification, or of a part of one.
type Report struct {
	Functions    int
	Instructions int
	Faults       int // states in which the instruction, in place, raised an exception
	Rows         []*Row
	Refused      []*Refusal
	Mismatches   []Mismatch // the first of each row

	rows map[[2]string]*Row
}

// A Row is about the instructions of one mnemonic and plan.
type Row struct {
	Mnemonic, Plan                   string
	Instructions, States, Mismatches int
}

// A Refusal is a reason for which instructions have no probes.
type Refusal struct {
	Reason       string
	Instructions int
	Example      string
}

// A Mismatch is an instruction that does not do the same displaced as it does in place.
type Mismatch struct {
	Function         string
	Offset           uint64
	Code, Text, Plan string
	State            int
	Interrupt        bool       // one waits
	Registers        []Register // that matter: the others are as the guest had them
	Why              string     // what differs: in place, displaced
}

// A Register has a value.
type Register struct {
	Name  string
	Value uint64
}

// row finds or makes the row of instructions.
func (r *Report) row(mnemonic, plan string) *Row {
	if r.rows == nil {
		r.rows = map[[2]string]*Row{}
		for _, row := range r.Rows {
			r.rows[[2]string{row.Mnemonic, row.Plan}] = row
		}
	}
	key := [2]string{mnemonic, plan}
	row := r.rows[key]
	if row == nil {
		row = &Row{Mnemonic: mnemonic, Plan: plan}
		r.rows[key] = row
		r.Rows = append(r.Rows, row)
	}
	return row
}

func (r *Report) refusal(reason string) *Refusal {
	for _, f := range r.Refused {
		if f.Reason == reason {
			return f
		}
	}
	f := &Refusal{Reason: reason}
	r.Refused = append(r.Refused, f)
	return f
}

func (r *Report) refuse(in *instruction, reason string) {
	f := r.refusal(reason)
	f.Instructions++
	if f.Example == "" {
		f.Example = fmt.Sprintf("%s+%d %s", in.fn.Name, in.pc-in.fn.Addr, in.text)
	}
}

func (r *Report) count(place emu.Outcome) {
	if place.Exceptions() > 0 {
		r.Faults++
	}
}

// most is how many mismatches are kept.
const most = 1000

func (r *Report) mismatch(m Mismatch) {
	if len(r.Mismatches) < most {
		r.Mismatches = append(r.Mismatches, m)
	}
}

// Add adds another part to r.
func (r *Report) Add(o *Report) {
	r.Functions += o.Functions
	r.Instructions += o.Instructions
	r.Faults += o.Faults
	for _, row := range o.Rows {
		mine := r.row(row.Mnemonic, row.Plan)
		mine.Instructions += row.Instructions
		mine.States += row.States
		mine.Mismatches += row.Mismatches
	}
	for _, f := range o.Refused {
		mine := r.refusal(f.Reason)
		mine.Instructions += f.Instructions
		mine.Example = cmp.Or(mine.Example, f.Example)
	}
	for _, m := range o.Mismatches {
		r.mismatch(m)
	}
}

// Sort puts everything into an order that does not depend on how the parts were made.
func (r *Report) Sort() {
	slices.SortFunc(r.Rows, func(a, b *Row) int {
		return cmp.Or(cmp.Compare(a.Mnemonic, b.Mnemonic), cmp.Compare(a.Plan, b.Plan))
	})
	slices.SortFunc(r.Refused, func(a, b *Refusal) int {
		return cmp.Or(cmp.Compare(b.Instructions, a.Instructions), cmp.Compare(a.Reason, b.Reason))
	})
	slices.SortFunc(r.Mismatches, func(a, b Mismatch) int {
		return cmp.Or(cmp.Compare(a.Function, b.Function), cmp.Compare(a.Offset, b.Offset))
	})
}

// Totals sums the rows up.
func (r *Report) Totals() (states, mismatches, refused int) {
	for _, row := range r.Rows {
		states += row.States
		mismatches += row.Mismatches
	}
	for _, f := range r.Refused {
		refused += f.Instructions
	}
	return states, mismatches, refused
}

// WriteTo writes the report for people: sums by plan, refusals, mismatches.
func (r *Report) WriteTo(w io.Writer) (int64, error) {
	c := &counter{w: w}
	states, mismatches, refused := r.Totals()
	fmt.Fprintf(c, "%d instructions of %d functions, %d refused\n", r.Instructions, r.Functions, refused)
	fmt.Fprintf(c, "%d states, %d of them with a fault or a trap\n", states, r.Faults)
	fmt.Fprintf(c, "%d mismatches\n\n", mismatches)
	t := tabwriter.NewWriter(c, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "plan\tmnemonics\tinstructions\tstates\tmismatches\t\n")
	for _, p := range r.plans() {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t\n", p.Plan, p.mnemonics, p.Instructions, p.States, p.Mismatches)
	}
	t.Flush()
	for _, f := range r.Refused {
		fmt.Fprintf(c, "\nrefused %d: %s\n  as %s\n", f.Instructions, f.Reason, f.Example)
	}
	for _, m := range r.Mismatches {
		m.write(c)
	}
	return c.n, c.err
}

type planSum struct {
	Row
	mnemonics int
}

func (r *Report) plans() []*planSum {
	var sums []*planSum
	for _, row := range r.Rows {
		i := slices.IndexFunc(sums, func(s *planSum) bool { return s.Plan == row.Plan })
		if i < 0 {
			i = len(sums)
			sums = append(sums, &planSum{Row: Row{Plan: row.Plan}})
		}
		s := sums[i]
		s.mnemonics++
		s.Instructions += row.Instructions
		s.States += row.States
		s.Mismatches += row.Mismatches
	}
	slices.SortFunc(sums, func(a, b *planSum) int { return cmp.Compare(b.Instructions, a.Instructions) })
	return sums
}

func (m *Mismatch) write(w io.Writer) {
	fmt.Fprintf(w, "\nmismatch at %s+%d: %s  %s (%s)\n", m.Function, m.Offset, m.Code, m.Text, m.Plan)
	fmt.Fprintf(w, "  %s\n", m.Why)
	fmt.Fprintf(w, "  state %d:", m.State)
	for _, r := range m.Registers {
		fmt.Fprintf(w, " %s=%#x", r.Name, r.Value)
	}
	if m.Interrupt {
		fmt.Fprint(w, ", an interrupt waits")
	}
	fmt.Fprintln(w)
}

// A counter counts what is written, and remembers the first error.
type counter struct {
	w   io.Writer
	n   int64
	err error
}

func (c *counter) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.w.Write(p)
	c.n += int64(n)
	c.err = err
	return n, err
}
