package session

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes/d/code"
	"trapline/probes/probetest"
)

func TestDestructive(t *testing.T) {
	for _, tt := range []struct{ opt, prog, want string }{
		{"quiet", "BEGIN { panic(); }", "line 1: destructive actions not allowed"},
		{"quiet", "BEGIN\n/1/\n{ copyoutstr(\"x\", 1, 2); }", "line 3: destructive actions not allowed"},
		{"destructive", "BEGIN { stop(); }", "line 1: stop( ) is not possible: fake does not take signals from outside"},
		{"destructive", "BEGIN { raise(9); }", "line 1: raise( ) is not possible: fake does not take signals from outside"},
	} {
		r := newRig(t, tt.opt)
		if err := r.trace(nil, script(tt.prog)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.prog, err, tt.want)
		}
	}
}

func TestHalt(t *testing.T) {
	for prog, act := range map[string]code.Act{"panic()": code.Panic, "breakpoint()": code.Breakpoint} {
		r := newRig(t, "quiet", "destructive")
		if err := r.trace(readTwice, script("kinst::vfs_read:0 { "+prog+"; }")); err != nil {
			t.Fatal(err)
		}
		if got, ok := r.Halted(); got != act || !ok || !r.target.Stopped() {
			t.Errorf("%s: halted %v %v, stopped %v", prog, got, ok, r.target.Stopped())
		}
		if want := "dtrace: " + act.String() + "( ) has stopped the guest\n"; r.errOut.String() != want {
			t.Errorf("%q, want %q", r.errOut.String(), want)
		}
	}
}

func TestChill(t *testing.T) {
	r := newRig(t, "quiet", "destructive")
	prog := `kinst::vfs_read:0 { this->t = timestamp; chill(1000); printf("%d ", timestamp - this->t); }`
	if err := r.trace(readTwice, script(prog)); err != nil || r.out.String() != "1000 1000 \n" {
		t.Errorf("%q %v", r.out.String(), err)
	}
}

func TestYield(t *testing.T) {
	r := newRig(t, "quiet", "destructive")
	if err := r.trace(readTwice, script("kinst::vfs_read:0 { yield(); }")); err != nil || r.target.Turns != 2 {
		t.Errorf("%d turns have ended, %v", r.target.Turns, err)
	}
}

// A signalOS takes signals, and notes them.
type signalOS struct {
	fakeOS
	got *[]int
}

func (signalOS) CanSignal() error { return nil }
func (signalOS) StopSignal() int  { return 19 }

func (o signalOS) Signal(_ guestos.MemWriter, _ arch.Regs, n int) error {
	*o.got = append(*o.got, n)
	return nil
}

func TestSignals(t *testing.T) {
	r := newRig(t, "quiet", "destructive")
	var got []int
	r.setOS(signalOS{got: &got})
	err := r.trace(readTwice, script(`BEGIN { raise(9); } kinst::vfs_read:0 { stop(); raise(5 + n++); } kinst::vfs_read:0 { raise(65); }`))
	if want := []int{19, 5, 19, 6}; err != nil || !slices.Equal(got, want) {
		t.Errorf("signals %v, %v; want %v", got, err, want)
	}
	if n := strings.Count(r.errOut.String(), "illegal operation in action #1"); n != 3 {
		t.Error(r.errOut.String())
	}
}

func TestSystem(t *testing.T) {
	r := newRig(t, "quiet", "destructive")
	err := r.trace(readTwice, script(`kinst::vfs_read:0 { printf("before "); system("echo %s", probefunc); printf("after\n"); }
		END { system("exit 3"); }`))
	if want := "before vfs_read\nafter\nbefore vfs_read\nafter\n\n"; err != nil || r.out.String() != want {
		t.Errorf("%q %v", r.out.String(), err)
	}
}

// In JSON, what a command prints is part of its record.
func TestSystemJSON(t *testing.T) {
	r := newRig(t, "quiet", "destructive", "oformat=json")
	err := r.trace(nil, script(`BEGIN { system("echo %d; echo \"<b>\"", 3); system("exit 1"); }`))
	want := `"output":[{"action":"system","command":"echo 3; echo \"<b>\"","text":"3\n<b>\n"},{"action":"system","command":"exit 1","text":""}]}` + "\n"
	if err != nil || !strings.HasSuffix(r.out.String(), want) || strings.Count(r.out.String(), "\n") != 1 {
		t.Errorf("%q %v", r.out.String(), err)
	}
}

func TestFreopen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	r := newRig(t, "quiet", "destructive")
	err := r.trace(nil, script(`BEGIN { printf("one "); freopen("%s.%d", "`+name+`", 7); printf("two"); ftruncate(); printf("three"); freopen(""); printf("four"); }
		BEGIN { freopen("%s/not/there", "`+name+`"); }`))
	if err != nil || r.out.String() != "one four\n" {
		t.Errorf("%q %v", r.out.String(), err)
	}
	if text, err := os.ReadFile(name + ".7"); err != nil || string(text) != "three" {
		t.Errorf("%q %v", text, err)
	}
	if !strings.HasPrefix(r.errOut.String(), "dtrace: freopen( ): open ") {
		t.Error(r.errOut.String())
	}
}

func TestSetopt(t *testing.T) {
	r := newRig(t)
	err := r.trace(nil, script(`BEGIN { setopt("quiet"); setopt("aggrate", "1ms"); setopt("switchrate", "5ms"); setopt("oformat", "json"); setopt("bufsize", "1"); trace("x"); }`))
	if r.Options.SwitchRate != 5e6 {
		t.Errorf("switchrate is %d", r.Options.SwitchRate)
	}
	if want := "x\n"; err != nil || !strings.HasSuffix(r.out.String(), want) {
		t.Errorf("%q %v", r.out.String(), err)
	}
	if got := r.errOut.String(); !strings.HasSuffix(got, "dtrace: setopt( ): oformat=json: it cannot be set while a trace runs\ndtrace: setopt( ): bufsize=1: it cannot be set while a trace runs\n") {
		t.Error(got)
	}
}

// Under the policies fill and ring nothing is shown before the end. Three records of 24 bytes fit,
// two where room is kept for that of END.
func TestBufPolicy(t *testing.T) {
	for policy, want := range map[string]string{"fill": "0 1 end\n", "ring": "7 8 9 end\n", "switch": "0 1 2 3 4 5 6 7 8 9 end\n"} {
		r := newRig(t, "quiet", "bufpolicy="+policy, "bufsize=72")
		err := r.trace(func(g *probetest.Target) {
			for range 10 {
				g.Run(vfsRead)
			}
		}, script(`kinst::vfs_read:0 { printf("%d ", n++); } END { printf("end"); }`))
		if policy == "fill" && !r.target.Stopped() {
			t.Error("fill: the target was not stopped")
		}
		if got := r.out.String(); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", policy, got, err, want)
		}
	}
}

// Under the policy fill END has to have room, and a size that cannot be had is lowered.
func TestBufferSizes(t *testing.T) {
	r := newRig(t, "bufpolicy=fill", "bufsize=20")
	err := r.trace(nil, script(`END { trace("0123456789"); }`))
	if err == nil || !strings.HasPrefix(err.Error(), "END enablings exceed size of principal buffer: ") {
		t.Errorf("fill: %v", err)
	}
	r = newRig(t, "quiet", "bufsize=100t")
	err = r.trace(nil, script(`BEGIN { trace("x"); }`))
	if want := "dtrace: buffer size lowered to 52428800 bytes\n"; err != nil || r.errOut.String() != want {
		t.Errorf("100t: %q, %v", r.errOut.String(), err)
	}
}
