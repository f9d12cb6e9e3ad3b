package consume

import (
	"errors"
	"io"
	"strings"
	"testing"

	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
)

// everySize are the integers of each size, at one action each.
func everySize(s *stage) *stage {
	for i, size := range []int{8, 4, 2, 1} {
		s.field(buffer.Field{Size: size, Signed: true, Action: i})
	}
	return s
}

func traces(n int) []code.Action {
	a := make([]code.Action, n)
	for i := range a {
		a[i] = act(code.Trace)
	}
	return a
}

func TestTraceIntegers(t *testing.T) {
	s := everySize(newStage(t, traces(4)...))
	s.record(1, 2, 3, 4).record(-1, -2, -3, -4)
	s.want(`
CPU     ID                    FUNCTION:NAME$
  0   1234                      vfs_read:17                 1        2     3   4$
  0   1234                      vfs_read:17                -1       -2 65533 252$
`)
}

func TestTraceIntegersQuiet(t *testing.T) {
	s := everySize(newStage(t, traces(4)...))
	s.opts.Quiet = true
	s.record(1, 2, 3, 4).record(-1, -2, -3, -4)
	s.want("1234-1-265533252")
}

func TestTraceStrings(t *testing.T) {
	field := buffer.Field{Kind: buffer.String, Size: 256}
	s := newStage(t, act(code.Trace)).field(field)
	s.record("busybox").record("").record(strings.Repeat("x", 40))
	s.want(`
CPU     ID                    FUNCTION:NAME$
  0   1234                      vfs_read:17   busybox                          $
  0   1234                      vfs_read:17                                    $
  0   1234                      vfs_read:17   xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx$
`)
	q := newStage(t, act(code.Trace)).field(field)
	q.opts.Quiet = true
	q.record("busybox").record("").want("busybox")
}

func TestTraceBytes(t *testing.T) {
	s := newStage(t, act(code.Trace)).field(buffer.Field{Kind: buffer.Bytes, Size: 20})
	s.opts.Quiet = true
	s.record("hello\nworld\x00\x01~\x7f\xffABC").want(`
$
             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef$
         0: 68 65 6c 6c 6f 0a 77 6f 72 6c 64 00 01 7e 7f ff  hello.world..~..$
        10: 41 42 43 00                                      ABC.$
`)
}

func TestRawBytes(t *testing.T) {
	s := newStage(t, act(code.Trace)).field(buffer.Field{Kind: buffer.String, Size: 4})
	s.opts.Quiet, s.opts.RawBytes = true, true
	s.record("hi").want(`
$
             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef$
         0: 68 69                                            hi$
`)
}

func TestStack(t *testing.T) {
	s := newStage(t, act(code.Stack)).field(buffer.Field{Kind: buffer.Stack, Size: buffer.StackSize(5)})
	s.record([]uint64{0x1000, 0x1017, 0x2345, 0xffffffff81000000}).want(`
CPU     ID                    FUNCTION:NAME$
  0   1234                      vfs_read:17 $
              vmlinux` + "`" + `vfs_read$
              vmlinux` + "`" + `vfs_read+0x17$
              ext4` + "`" + `0x2345$
              0xffffffff81000000$
$
`)
	s = newStage(t, act(code.Stack)).field(buffer.Field{Kind: buffer.Stack, Size: buffer.StackSize(5)})
	s.opts.Quiet, s.opts.StackIndent, s.trace.Symbol = true, 2, nil
	s.record([]uint64{0x1000}).want("$\n  0x1000$\n")
}

// The call of a function that does not return is its caller's last instruction: what it would
// return to is in no function, but the frame is the caller's. The place of the probe is what
// it is.
func TestStackBehindNoreturn(t *testing.T) {
	s := newStage(t, act(code.Stack)).field(buffer.Field{Kind: buffer.Stack, Size: buffer.StackSize(5)})
	s.opts.Quiet, s.opts.StackIndent = true, 2
	s.record([]uint64{0x1100, 0x1100, 0x1101}).want("$\n  0x1100$\n  vmlinux`vfs_read+0x100$\n  0x1101$\n")
}

// A clause without actions, exit, and a clause with printf: columns, text, end of line.
func TestColumns(t *testing.T) {
	newStage(t).record().want(`
CPU     ID                    FUNCTION:NAME$
  0   1234                      vfs_read:17 $
`)
	s := newStage(t, act(code.Exit)).field(buffer.Field{Size: 4, Signed: true})
	probe := Probe{ID: 1, Prov: "dtrace", Name: "BEGIN"}
	s.trace.Enabling = func(uint32) *Enabling { return &Enabling{Probe: probe} }
	s.record(0).want(`
CPU     ID                    FUNCTION:NAME$
  0      1                           :BEGIN $
`)
	s = newStage(t, printf("%d and "), act(code.Eval), printf("%s\n"))
	s.field(buffer.Field{Size: 4, Signed: true}).field(buffer.Field{Kind: buffer.String, Size: 8, Action: 2})
	s.record(-5, "foo").want(`
CPU     ID                    FUNCTION:NAME$
  0   1234                      vfs_read:17 -5 and foo$
$
`)
}

func TestColumnsOverflow(t *testing.T) {
	s := newStage(t)
	long := Probe{ID: 12345678, Func: strings.Repeat("f", 40), Name: "entry"}
	s.trace.Enabling = func(uint32) *Enabling { return &Enabling{Probe: long} }
	s.record().want(`
CPU     ID                    FUNCTION:NAME$
  0 12345678 ffffffffffffffffffffffffffffffffffffffff:entry $
`)
}

func TestFault(t *testing.T) {
	s := newStage(t)
	for _, f := range []Fault{
		{EPID: 3, Probe: probe, Text: "invalid address (0x10)", Action: 2, Offset: 5},
		{EPID: 4, Probe: Probe{ID: 1, Prov: "dtrace", Name: "BEGIN"}, Text: "divide-by-zero", Offset: 2},
	} {
		if err := s.text().Fault(f); err != nil {
			t.Error(err)
		}
	}
	const want = "dtrace: error on enabled probe ID 3 (ID 1234: kinst:vmlinux:vfs_read:17): invalid address (0x10) in action #2 at DIF offset 5\n" +
		"dtrace: error on enabled probe ID 4 (ID 1: dtrace:::BEGIN): divide-by-zero in predicate at DIF offset 2\n"
	if got := s.err.String(); got != want {
		t.Errorf("got %s", got)
	}
}

func TestDrops(t *testing.T) {
	s := newStage(t)
	s.buf.Reserve(1 << 20)
	s.record()
	for _, d := range []Drops{{CPU: 1, Records: 5, Aggregations: 1, Variables: 7}, {CPU: 2, Aggregations: 3}, {Variables: 1}, {Errors: 2}, {}} {
		if err := s.text().Drops(d); err != nil {
			t.Error(err)
		}
	}
	const want = `dtrace: 1 drop on CPU 0
dtrace: 5 drops on CPU 1
dtrace: 1 aggregation drop on CPU 1
dtrace: 7 dynamic variable drops
dtrace: 3 aggregation drops on CPU 2
dtrace: 1 dynamic variable drop
dtrace: 2 errors in ERROR probe enabling
`
	if got := s.err.String(); got != want {
		t.Errorf("got %s", got)
	}
	if s.buf.Drops != 0 {
		t.Error("drops are reported twice")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriteErrors(t *testing.T) {
	s := newStage(t)
	x, err := NewText(&s.trace, s.opts, failing{}, failing{})
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"end": x.End(), "fault": x.Fault(Fault{}), "drops": x.Drops(Drops{Records: 1})} {
		if !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadFormat(t *testing.T) {
	s := newStage(t, code.Action{Act: code.Printf, Format: "%", Line: 3})
	if _, err := NewText(&s.trace, s.opts, &s.out, &s.err); err == nil || !strings.HasPrefix(err.Error(), "line 3: ") {
		t.Errorf("got %v", err)
	}
}
