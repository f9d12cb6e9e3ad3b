package session

import (
	"testing"

	"trapline/probes/probetest"
)

// BenchmarkFire is one hit of a probe, from the target's call to the end of its clause.
func BenchmarkFire(b *testing.B) {
	for _, tt := range []struct{ name, d string }{
		{"count", "kinst::vfs_read:0 { @ = count() }"},
		{"count by name", "kinst::vfs_read:0 { @[probename] = count() }"},
		{"count by execname", "kinst::vfs_read:0 { @[execname] = count() }"},
		{"predicate", "kinst::vfs_read:0 /pid == 1/ { @ = count() }"},
		{"printf", `kinst::vfs_read:0 { printf("%d %s\n", pid, execname) }`},
	} {
		b.Run(tt.name, func(b *testing.B) {
			r := newRig(b, "quiet")
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
