package consume

import (
	"strings"
	"testing"
)

func TestFlow(t *testing.T) {
	s := newStage(t)
	s.opts.FlowIndent = true
	s.trace.Calls = func(provider string) bool { return provider == "syscall" }
	text := s.text()
	for _, r := range []Record{
		{EPID: 1, Probe: Probe{ID: 1, Prov: "syscall", Func: "read", Name: "entry"}},
		{EPID: 2, Probe: Probe{ID: 2, Prov: "fbt", Func: "vfs_read", Name: "entry"}},
		{EPID: 3, Probe: Probe{ID: 2, Prov: "fbt", Func: "vfs_read", Name: "entry"}},
		{EPID: 4, Probe: Probe{ID: 3, Prov: "kinst", Func: "vfs_read", Name: "12"}},
		{EPID: 5, Probe: Probe{ID: 4, Prov: "fbt", Func: "vfs_read", Name: "return"}, Again: true},
		{EPID: 6, Probe: Probe{ID: 4, Prov: "fbt", Func: "vfs_read", Name: "return"}},
		{EPID: 7, Probe: Probe{ID: 5, Prov: "syscall", Func: "read", Name: "return"}},
		{EPID: 7, Probe: Probe{ID: 5, Prov: "syscall", Func: "read", Name: "return"}},
		{EPID: 8, CPU: 1, Probe: Probe{ID: 6, Prov: "sched", Func: "f", Name: "my-entry"}},
	} {
		if err := text.Record(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := text.Flush(); err != nil {
		t.Fatal(err)
	}
	const want = `
CPU FUNCTION
  0  => read
  0    -> vfs_read
  0     | vfs_read:entry
  0     | vfs_read:12
  0     | vfs_read:return
  0    <- vfs_read
  0  <= read
  0  <= read
  1  -> f
`
	var got strings.Builder
	got.WriteByte('\n')
	for _, line := range strings.Split(strings.TrimRight(s.out.String(), "\n"), "\n") {
		got.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if got.String() != want {
		t.Errorf("got %s", got.String())
	}
}
