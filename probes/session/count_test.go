package session

import (
	"strings"
	"testing"

	"trapline/kernel/guestos"
	"trapline/probes/probetest"
)

// Clauses that only count are left to the target. What they come to is what they come to
// with a predicate, which is always true and keeps them from that.
func TestCount(t *testing.T) {
	reads := func(n int) func(*probetest.Target) {
		return func(t *probetest.Target) {
			for range n {
				t.Run(vfsRead, vfsRead+1, vfsRead+4, vfsRead+6, vfsRead+7)
			}
		}
	}
	tests := []struct {
		name     string
		opts     []string
		program  string // ALWAYS is where the predicate goes
		guest    func(*probetest.Target)
		counting int // breakpoints left to the target at the end
	}{
		{"one key", nil, `kinst::vfs_read:0 ALWAYS { @ = count(); }`, reads(5), 1},
		{"by probe", nil, `kinst::vfs_read: ALWAYS { @[probefunc, probename, 7, "x"] = count(); @n[epid, id] = count(); }`, reads(5), 5},
		{"two clauses", nil, `kinst::vfs_read:0 ALWAYS { @ = count(); } kinst::vfs_read:0 ALWAYS { @b = count(); }`, reads(5), 1},
		{"two clauses, one not", nil, `kinst::vfs_read:0 ALWAYS { @ = count(); } kinst::vfs_read:0 { @b = sum(1); }`, reads(5), 0},
		{"another key", nil, `kinst::vfs_read:0 ALWAYS { @[execname] = count(); }`, reads(5), 0},
		{"exit", nil, `kinst::vfs_read:0 ALWAYS { @ = count(); }
			kinst::vfs_read:7 / ++n == 3 / { exit(0); }`, reads(5), 0},
		{"printa, clear", nil, `kinst::vfs_read: ALWAYS { @[probename] = count(); }
			tick-1ms { printa(@); clear(@); }`, func(t *probetest.Target) {
			for range 3 {
				reads(4)(t)
				t.Advance(1e6)
			}
			t.Run(vfsRead)
		}, 1},
		{"trunc", nil, `kinst::vfs_read: ALWAYS { @[probename] = count(); }
			tick-1ms { trunc(@, 2); }`, func(t *probetest.Target) {
			reads(4)(t)
			t.Advance(1e6)
			t.Run(vfsRead, vfsRead, vfsRead+1)
		}, 2},
		{"no room", []string{"aggsize=550"}, `kinst::vfs_read: ALWAYS { @[probename] = count(); }`, reads(5), 3},
		{"rewritten", nil, `kinst::vfs_read: ALWAYS { @[probename] = count(); }`, func(t *probetest.Target) {
			reads(5)(t)
			t.Rewrite(vfsRead+1, []byte{0x90, 0x89, 0xe5}) // nop; mov %esp,%ebp
			t.Run(vfsRead, vfsRead+1, vfsRead+2, vfsRead+4, vfsRead+6, vfsRead+7)
			t.Rewrite(vfsRead, []byte{0x0f, 0x1f, 0x40, 0}) // nopl 0(%rax): nothing begins at 1
			t.Run(vfsRead, vfsRead+4, vfsRead+6, vfsRead+7)
		}, 4},
		{"cross-check", []string{"crosscheck"}, `kinst::vfs_read: ALWAYS { @ = count(); }`, reads(5), 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := func(predicate string) (*rig, string) {
				r := newRig(t, tt.opts...)
				counting := 0
				src := spec(strings.ReplaceAll(tt.program, "ALWAYS", predicate))
				err := r.trace(func(target *probetest.Target) {
					tt.guest(target)
					counting = target.Counting()
				}, src)
				if err != nil || r.target.Err != nil {
					t.Fatal(err, r.target.Err)
				}
				if predicate == "" && counting != tt.counting {
					t.Errorf("%d breakpoints are left to the target, want %d", counting, tt.counting)
				}
				return r, r.out.String() + r.errOut.String()
			}
			alone, got := run("")
			each, want := run("/pid == 42/")
			got, want = firstLineOff(got), firstLineOff(want)
			if got != want || want == "" {
				t.Errorf("counted by the target:\n%s\none by one:\n%s", got, want)
			}
			if alone.Hits() != each.Hits() {
				t.Errorf("%d hits, one by one %d", alone.Hits(), each.Hits())
			}
		})
	}
}

// firstLineOff takes off the line that repeats the program.
func firstLineOff(s string) string {
	var keep []string
	for line := range strings.Lines(s) {
		if !strings.HasPrefix(line, "dtrace: description") {
			keep = append(keep, line)
		}
	}
	return strings.Join(keep, "")
}

// sparingOS remembers what it was told to leave out.
type sparingOS struct {
	fakeOS
	spared guestos.Parts
}

func (o *sparingOS) Spare(p guestos.Parts) { o.spared = p }

func TestSpare(t *testing.T) {
	for _, tt := range []struct {
		program string
		want    guestos.Parts
	}{
		{"BEGIN { trace(pid); }", guestos.Parent | guestos.Credentials},
		{"BEGIN / ppid == 0 / { }", guestos.Credentials},
		{"BEGIN { @[uid] = count(); }", guestos.Parent},
		{"BEGIN { this->x = gid + ppid; }", 0},
	} {
		r := newRig(t)
		os := &sparingOS{spared: 0xff}
		r.setOS(os)
		if err := r.trace(nil, spec(tt.program)); err != nil {
			t.Fatal(err)
		}
		if os.spared != tt.want {
			t.Errorf("%s: spared %b, want %b", tt.program, os.spared, tt.want)
		}
	}
}
