package session

import (
	"fmt"
	"strings"
	"testing"

	"trapline/probes/front"
	"trapline/probes/probetest"
)

// BenchmarkFire is one hit that is not deferred, from the target's call to the end of its clause.
func BenchmarkFire(b *testing.B) {
	for _, tt := range []struct{ name, d string }{
		{"count", "kinst::vfs_read:0 { @ = count() }"},
		{"count by name", "kinst::vfs_read:0 { @[probename] = count() }"},
		{"count by execname", "kinst::vfs_read:0 { @[execname] = count() }"},
		{"predicate", "kinst::vfs_read:0 /pid == 1/ { @ = count() }"},
		{"printf", `kinst::vfs_read:0 { printf("%d %s\n", pid, execname) }`},
	} {
		b.Run(tt.name, func(b *testing.B) {
			r := newRig(b, "quiet", "defer=off")
			b.ReportAllocs()
			err := r.trace(func(t *probetest.Target) {
				b.ResetTimer()
				for range b.N {
					t.Run(vfsRead)
				}
				b.StopTimer()
			}, spec(tt.d))
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkCompile is a script of 200 lines, from its text to its enabled probes.
func BenchmarkCompile(b *testing.B) {
	var prog strings.Builder
	for i := range 25 {
		fmt.Fprintf(&prog, `kinst::vfs_read:0
/pid > %d && execname != "x%[1]d"/
{
	self->t%[1]d = timestamp;
	@c%[1]d[execname, pid] = count();
	@q%[1]d[probefunc] = quantize((timestamp - self->t%[1]d) / 1000);
	printf("%%s %%d %%x\n", execname, pid, arg0);
}
`, i)
	}
	src := script(prog.String())
	b.ReportAllocs()
	for b.Loop() {
		if err := newRig(b).Compile([]front.Source{src}, front.Macros{}); err != nil {
			b.Fatal(err)
		}
	}
}
