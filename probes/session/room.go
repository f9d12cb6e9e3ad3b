package session

import (
	"fmt"

	"trapline/probes/d/buffer"
	"trapline/probes/d/vm"
)

// makeVM makes the machine that runs the program, with buffers as large as can be had. Under the
// policy fill room is kept for what END records.
func (s *Session) makeVM() error {
	lowered, err := s.Options.Fit()
	for _, line := range lowered {
		s.complain("%s", line)
	}
	if err != nil {
		return err
	}
	if s.vm, err = vm.New(s.prog, s.Options.Limits); err != nil || s.Options.BufPolicy != buffer.Fill {
		return err
	}
	n := 0
	for _, on := range s.on.of(s.dtrace.End.ID()) {
		n += s.vm.Layouts()[on.Clause].Size
	}
	if n > s.Options.BufSize {
		return fmt.Errorf("END enablings exceed size of principal buffer: they record %d bytes, bufsize is %d", n, s.Options.BufSize)
	}
	s.reserve(n)
	return nil
}

// reserve has the buffers keep n bytes free.
func (s *Session) reserve(n int) {
	for _, b := range s.vm.Buffers() {
		b.Reserved = n
	}
}
