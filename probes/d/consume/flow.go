package consume

import (
	"fmt"
	"strings"
)

// A flow is how deep the calls on a CPU are, and the record before.
type flow struct {
	indent int
	last   uint32 // EPID, 0 at first
	probe  uint32 // ID
}

// maxIndent is the most blanks before a line.
const maxIndent = 1000

// flow prints the columns of a record with option flowindent: entries of functions indent
// what follows, returns undo that. Where several clauses show the same entry or return,
// only the first entry and the last return count.
func (t *Text) flow(r *Record) {
	f := t.flows[r.CPU]
	if f == nil {
		if t.flows == nil {
			t.flows = make(map[int]*flow)
		}
		f = new(flow)
		t.flows[r.CPU] = f
	}
	arrow, enters, leaves := t.arrowOf(r)
	enters = enters && (f.last == 0 || f.last == r.EPID || f.probe != r.Probe.ID)
	leaves = leaves && !r.Again
	if leaves {
		f.indent = max(f.indent-2, 0)
	}
	name := arrow + r.Probe.Func
	if !enters && !leaves {
		name = "| " + r.Probe.Func + ":" + r.Probe.Name
	}
	t.buf = fmt.Appendf(t.buf, "%3d %-41s ", r.CPU, strings.Repeat(" ", min(f.indent, maxIndent))+name)
	if enters {
		f.indent += 2
	}
	f.last, f.probe = r.EPID, r.Probe.ID
}

func (t *Text) arrowOf(r *Record) (arrow string, enters, leaves bool) {
	enters = isWord(r.Probe.Name, "entry")
	leaves = isWord(r.Probe.Name, "return")
	arrow = " -> "
	if leaves {
		arrow = " <- "
	}
	if t.trace.Calls != nil && t.trace.Calls(r.Probe.Prov) {
		arrow = strings.Replace(arrow, "-", "=", 1)
	}
	return arrow, enters, leaves
}

// isWord says that a probe's name is a word or ends with it after a dash.
func isWord(name, word string) bool { return name == word || strings.HasSuffix(name, "-"+word) }
