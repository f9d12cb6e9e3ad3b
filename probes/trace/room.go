package trace

import (
	"fmt"

	"trapline/probes/d/buffer"
	"trapline/probes/d/vm"
)

// makeVM makes the machine that runs the program, with buffers as large as can be had. Under the
// policy fill room is kept for what END records.
func (tr *Trace) makeVM() error {
	lowered, err := tr.Options.Fit()
	for _, line := range lowered {
		tr.Complain("%s", line)
	}
	if err != nil {
		return err
	}
	if tr.vm, err = vm.New(tr.prog, tr.Options.Limits); err != nil || tr.Options.BufPolicy != buffer.Fill {
		return err
	}
	n := 0
	for _, on := range tr.on.Of(tr.DTrace.End.ID()) {
		n += tr.vm.Layouts()[on.Clause].Size
	}
	if n > tr.Options.BufSize {
		return fmt.Errorf("END enablings exceed size of principal buffer: they record %d bytes, bufsize is %d", n, tr.Options.BufSize)
	}
	tr.reserve(n)
	return nil
}

// reserve has the buffers keep n bytes free.
func (tr *Trace) reserve(n int) {
	for _, b := range tr.vm.Buffers() {
		b.Reserved = n
	}
}
