package session

import (
	"errors"
	"fmt"
	"strings"

	"trapline/probes"
)

// A CheckError says where the cross-check found other counts than the breakpoints did.
type CheckError struct {
	Checked int // addresses
	Diffs   []CheckDiff
}

// A CheckDiff is an instruction that was not executed as often as its breakpoint was hit.
type CheckDiff struct {
	Addr             uint64
	Place            string // function+offset
	Hits, Executions uint64
}

// Error names at most ten of the instructions.
func (e *CheckError) Error() string {
	var list []string
	for _, d := range e.Diffs[:min(10, len(e.Diffs))] {
		list = append(list, fmt.Sprintf("%s %d hits of %d executions", d.Place, d.Hits, d.Executions))
	}
	if len(e.Diffs) > len(list) {
		list = append(list, "...")
	}
	return fmt.Sprintf("cross-check: %d of %d instructions differ: %s", len(e.Diffs), e.Checked, strings.Join(list, ", "))
}

// armCheck lets the target count the executions of every probed instruction.
func (s *Session) armCheck() error {
	if !s.Options.CrossCheck {
		return nil
	}
	c, ok := s.Target.(probes.CrossChecker)
	if !ok {
		return errors.New("option crosscheck: this target cannot count executions by other means")
	}
	s.checked = s.set.Enabled()
	if err := c.CrossCheck(s.checked); err != nil {
		return fmt.Errorf("option crosscheck: %w", err)
	}
	return nil
}

// check compares the target's counts with the breakpoints'.
func (s *Session) check() error {
	if !s.Options.CrossCheck {
		return nil
	}
	e := &CheckError{Checked: len(s.checked)}
	others := s.set.Total()
	for i, n := range s.Target.(probes.CrossChecker).Counts() {
		addr := s.checked[i]
		if s.modules.Left(addr) {
			continue
		}
		hits := s.set.Hits(addr)
		if others -= hits; hits != n {
			e.Diffs = append(e.Diffs, CheckDiff{addr, s.place(addr), hits, n})
		}
	}
	if others > 0 {
		s.complain("cross-check: %d hits are not compared, of probes made or gone while the guest ran", others)
	} else {
		e.Diffs = append(e.Diffs, s.checkCPUs()...)
	}
	if len(e.Diffs) > 0 {
		return e
	}
	return nil
}

// checkCPUs compares, on each of several CPUs, all hits with all executions.
func (s *Session) checkCPUs() (diffs []CheckDiff) {
	if s.Target.CPUs() == 1 {
		return nil
	}
	for cpu := range s.Target.CPUs() {
		if hits, n := s.Target.(probes.CrossChecker).CheckedOn(cpu); hits != n {
			diffs = append(diffs, CheckDiff{Place: fmt.Sprintf("all on CPU %d", cpu), Hits: hits, Executions: n})
		}
	}
	return diffs
}

func (s *Session) place(addr uint64) string {
	if sym, ok := s.Symbols.At(addr); ok {
		return fmt.Sprintf("%s+%d", sym.Name, addr-sym.Addr)
	}
	return fmt.Sprintf("%#x", addr)
}
