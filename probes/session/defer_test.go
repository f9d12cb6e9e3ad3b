package session

import (
	"encoding/binary"
	"strings"
	"testing"

	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes/probetest"
)

// threadOS reads threads from memory: the process at thread. Within the last bytes of
// vfs_read the kernel is left.
type threadOS struct{ fakeOS }

const thread = 0xffffffff81005000

func (threadOS) Thread(mem guestos.Mem, r arch.Regs) (guestos.Thread, error) {
	var p [8]byte
	err := mem.ReadMem(thread, p[:])
	pid := binary.LittleEndian.Uint64(p[:])
	return guestos.Thread{Key: 1 + pid, PID: int(pid), Execname: string('a' + rune(pid%26))}, err
}

func (threadOS) Enters(addr uint64) bool { return addr == vfsRead+7 }

// TestDefer: firings that come later come to what they come to at once, and come later where they can.
func TestDefer(t *testing.T) {
	tests := []struct {
		name    string
		opts    string
		program string
		later   int // breakpoints whose hits are deferred
	}{
		{"registers", "", `kinst::vfs_read: { printf("%d %x %x", arg0, arg2, R_RBX); trace(timestamp); }`, 5},
		{"the program counter", "", `kinst::vfs_read: { trace(R_RIP); trace(cpu); }`, 5},
		{"the thread", "", `kinst::vfs_read: /pid != 3/ { printf("%d %s", pid, execname); @[execname] = sum(arg0); }`, 4},
		{"the thread, in the second clause", "", `kinst::vfs_read:0 { trace(arg0); } kinst::vfs_read:0 /pid/ { trace(pid); }`, 1},
		{"variables", "", `kinst::vfs_read: { self->n++; g += arg0; a[pid, arg1] = timestamp; trace(self->n); trace(g); trace(a[1, 1]); }`, 4},
		{"time of a thread", "", `kinst::vfs_read: { trace(vtimestamp); } kinst::__switch_to:0 { trace(pid); }`, 4},
		{"time of the world", "", `kinst::vfs_read:0 { printf("%Y", walltimestamp); }`, 1},
		{"strings", "", `kinst::vfs_read:0 { trace(strjoin(probefunc, lltostr(arg0))); trace(rand()); }`, 1},
		{"with others", "", `kinst::vfs_read: { trace(arg0); } kinst::vfs_read:4 { stack(); } tick-1ms { trace(timestamp); }`, 4},
		{"memory", "", `kinst::vfs_read: { trace(*(long *)0xffffffff81005000); }`, 0},
		{"the thread, with memory", "", `kinst::vfs_read: { printf("%d %s %d", pid, execname, *(long *)0xffffffff81005000); } tick-100us { trace(pid); }`, 0},
		{"a stack", "", `kinst::vfs_read: { @[stack()] = count(); trace(caller); }`, 0},
		{"flags", "", `kinst::vfs_read: { trace(R_RFLAGS); }`, 5},
		{"an end", "", `kinst::vfs_read:0 { trace(arg0); } kinst::vfs_read:1 /++n == 3/ { exit(3); }`, 1},
		{"aggregations shown", "", `kinst::vfs_read:0 { @[pid] = max(arg0); } kinst::vfs_read:4 { printa(@); clear(@); }`, 1},
		{"speculation", "nspec=2", `kinst::vfs_read:0 { self->s = speculation(); } kinst::vfs_read: /self->s/ { speculate(self->s); trace(arg0); }
			kinst::vfs_read:6 /self->s && arg0 % 2/ { commit(self->s); self->s = 0; } kinst::vfs_read:6 /self->s/ { discard(self->s); self->s = 0; }`, 4},
		{"a fault", "", `kinst::vfs_read:0 { trace(1 / (arg0 % 3)); }`, 1},
		{"a fault that is seen", "", `kinst::vfs_read:0 { trace(1 / (arg0 % 3)); } ERROR { trace(timestamp); }`, 0},
		{"drops", "bufsize=64", `kinst::vfs_read: { trace(arg0); trace(pid); }`, 4},
		{"drops of keys", "aggsize=300", `kinst::vfs_read: { @[arg0, pid] = count(); }`, 4},
		{"a ring", "bufpolicy=ring bufsize=128", `kinst::vfs_read: { trace(arg0); }`, 5},
		{"a buffer that fills", "bufpolicy=fill bufsize=128", `kinst::vfs_read: { trace(arg0); }`, 0},
		{"cross-check", "crosscheck", `kinst::vfs_read: { trace(arg0); }`, 5},
		{"boundaries", "", `fbt::vfs_read:entry { self->t = timestamp; } fbt::vfs_read:return /self->t/ { trace(timestamp - self->t); trace(arg1); }`, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := func(how string) (string, int) {
				r := newRig(t, append(strings.Fields(tt.opts), how)...)
				r.setOS(threadOS{})
				later := 0
				if err := r.trace(func(target *probetest.Target) {
					busy(target)
					later = target.Deferring()
				}, spec(tt.program)); err != nil || r.target.Err != nil {
					t.Fatal(err, r.target.Err)
				}
				if r.target.Deferring() != 0 {
					t.Errorf("%d breakpoints are still deferred", r.target.Deferring())
				}
				return r.out.String() + r.errOut.String(), later
			}
			got, later := run("defer=on")
			want, none := run("defer=off")
			if got != want {
				t.Errorf("later:\n%s\nat once:\n%s", got, want)
			}
			if later != tt.later || none != 0 {
				t.Errorf("%d breakpoints are deferred, and %d without, want %d", later, none, tt.later)
			}
		})
	}
}

// busy is a guest with changing registers, threads and time.
func busy(t *probetest.Target) {
	for i := range uint64(12) {
		t.CPU.SetReg(arch.RDI, i)
		t.CPU.SetReg(arch.RSI, i/4)
		t.CPU.SetReg(arch.RBX, i*i)
		t.CPU.SetReg(arch.RFLAGS, i&1)
		t.Map(thread, binary.LittleEndian.AppendUint64(nil, 1+i/3))
		t.Run(vfsRead, vfsRead+1)
		t.Advance(130e3)
		t.Run(vfsRead+4, vfsRead+6, vfsRead+7)
		if i%5 == 4 {
			t.Run(0xffffffff81000300)
		}
	}
}

// A firing that comes at once allocates nothing, whether others may come later or not.
func TestFireAllocates(t *testing.T) {
	for _, how := range []string{"defer=on", "defer=off"} {
		r := newRig(t, "quiet", how)
		err := r.trace(func(target *probetest.Target) {
			target.Map(thread, []byte("0123456789"))
			fire := func() { target.Run(vfsRead) }
			fire()
			if n := testing.AllocsPerRun(100, fire); n != 0 {
				t.Errorf("%s: %v allocations", how, n)
			}
		}, spec(`kinst::vfs_read:0 { @[execname] = sum(*(int *)0xffffffff81005000); trace(pid); }`))
		if err != nil {
			t.Fatal(err)
		}
	}
}
