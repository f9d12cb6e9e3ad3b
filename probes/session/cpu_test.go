package session

import (
	"fmt"
	"strings"
	"testing"

	"trapline/probes/probetest"
)

// With the option cpu probes fire on that CPU alone: at once, later, counted by the target, and
// those of time. BEGIN and END are on no CPU.
func TestOptionCPU(t *testing.T) {
	for _, tt := range []struct{ opt, want string }{
		{"cpu=0", "begin 0/0:2 0/1:2 0/profile-1ms:1 0/tick-1ms:1 end 2 "},
		{"cpu=1", "begin 1/0:3 1/1:3 1/profile-1ms:1 1/tick-1ms:1 end 3 "},
		{"defer", "begin 0/0:2 0/1:2 0/profile-1ms:1 0/tick-1ms:1 1/0:3 1/1:3 1/profile-1ms:1 end 5 "},
	} {
		r, smp := newSMPRig(t, 2, "quiet", "aggsortkey", tt.opt)
		err := r.trace(func(*probetest.Target) {
			for cpu := range 2 {
				smp.On(cpu)
				for range 2 + cpu {
					smp.Run(vfsRead, vfsRead+1, vfsRead+4)
				}
			}
			if n := smp.Deferring(); n != 1 {
				t.Errorf("%s: %d are deferred", tt.opt, n)
			}
			for cpu := range 2 {
				smp.On(cpu)
				smp.Spend(1e6)
			}
		}, spec(`
			BEGIN { printf("begin "); }
			kinst::vfs_read:0, tick-1ms, profile-1ms { @[cpu, probename] = sum(1); }
			kinst::vfs_read:1 / *(char *)0xffffffff81000100 == 0x55 / { @[cpu, probename] = sum(1); }
			kinst::vfs_read:4 { @at = count(); }
			END { printa("%d/%s:%@d ", @); printf("end"); printa(" %@d ", @at); }`))
		if got := strings.TrimSpace(r.out.String()) + " "; err != nil || got != tt.want || smp.Err != nil {
			t.Errorf("%s: %q, want %q; %v, %v", tt.opt, got, tt.want, err, smp.Err)
		}
	}
}

func TestOptionCPUMissing(t *testing.T) {
	for value, want := range map[string]string{
		"2":  "option cpu: there is no CPU 2: the guest has 2, numbered from 0 (--cpus)",
		"":   `option cpu: "" is not the number of a CPU`,
		"-1": `option cpu: "-1" is not the number of a CPU`,
		"1x": `option cpu: "1x" is not the number of a CPU`,
	} {
		r, _ := newSMPRig(t, 2)
		err := r.Options.Set("cpu", value)
		if err == nil {
			err = r.trace(nil, spec("BEGIN"))
		}
		if fmt.Sprint(err) != want {
			t.Errorf("%q: %v, want %s", value, err, want)
		}
	}
	r := newRig(t, "cpu=1")
	if err, want := r.trace(nil, spec("BEGIN")), "option cpu: there is no CPU 1: the guest has 1, numbered from 0 (--cpus)"; fmt.Sprint(err) != want {
		t.Errorf("one CPU: %v, want %s", err, want)
	}
}
