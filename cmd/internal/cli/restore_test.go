//go:build linuximage

package cli

import (
	"io"
	"testing"

	"golang.org/x/sys/unix"
)

// From a snapshot in the cache to a guest that can go on, for images that must have been
// fetched: finding the snapshot, comparing its checksums, mapping it. cpu-ms/op is of this
// process, for hosts that do other things besides.
func BenchmarkRestore(b *testing.B) {
	for _, image := range []string{"debian/amd64", "debian/arm64", "linux/riscv64"} {
		b.Run(image, func(b *testing.B) {
			e := &env{ctx: b.Context(), stdout: io.Discard, stderr: io.Discard}
			restoreGuest(b, e, image) // there is a snapshot from now on
			b.ResetTimer()
			used := int64(0)
			for range b.N {
				used += restoreGuest(b, e, image)
			}
			b.ReportMetric(float64(used)/float64(b.N)/1e6, "cpu-ms/op")
		})
	}
}

// restoreGuest makes a guest, brings it to where it waits for its command, and lets it go. It
// gives the CPU time of the second in nanoseconds.
func restoreGuest(b *testing.B, e *env, image string) int64 {
	b.StopTimer()
	g, err := e.newGuest(guestOptions{image: image, command: "true"}, guestConfig{console: io.Discard})
	if err != nil {
		b.Fatal(err)
	}
	defer g.close()
	b.StartTimer()
	start := processTime(b)
	ready, _, err := g.boot(e)
	used := processTime(b) - start
	b.StopTimer()
	if err != nil || !ready {
		b.Fatalf("ready %v, %v", ready, err)
	}
	return used
}

func processTime(b *testing.B) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return t.Nano()
}
