package cli

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
)

// holding is what this process has of the host's.
type holding struct {
	files, maps int
	resident    int // bytes
}

func (h holding) String() string {
	return fmt.Sprintf("%d files, %d mappings, %d KiB resident", h.files, h.maps, h.resident>>10)
}

func holdings(t *testing.T) (h holding) {
	t.Helper()
	debug.FreeOSMemory()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	if h.resident, err = strconv.Atoi(strings.Fields(string(statm))[1]); err != nil {
		t.Fatal(err)
	}
	h.resident *= os.Getpagesize()
	h.files, h.maps = len(files), bytes.Count(maps, []byte("\n"))
	return h
}

// A process that restores a guest, traces it and lets it go, over and over, holds no more
// at the end than at the beginning: neither files nor mappings nor memory. For an hour
// instead of 40 times: make soak.
func TestSoak(t *testing.T) {
	hermetic(t)
	// Cycles, cycles, and bytes: what the host's allocator keeps for each thread is some
	// megabytes, after an hour as after a minute.
	const warmup, least, growth = 10, 40, 24 << 20
	lasting, err := time.ParseDuration(os.Getenv("TRAPLINE_SOAK"))
	if err != nil && os.Getenv("TRAPLINE_SOAK") != "" {
		t.Fatal(err)
	}
	want := ""
	cycle := func(i int) {
		t.Helper()
		image := "tiny/" + []string{"amd64", "arm64", "riscv64"}[i%3]
		var out, errs bytes.Buffer
		status := mainIn(nil, []string{"dtrace", "-q", "-k", image, "-c", "forks 1", "-n",
			`kinst::sys_*:0 { @[probefunc] = count(); } kinst::sys_fork: { @s[execname, stack()] = quantize(arg0); }
			END { printa("%s %@d\n", @); }`, "-x", "aggsortkey"}, nil, &out, &errs)
		if status != 0 || errs.Len() > 0 {
			t.Fatalf("cycle %d on %s: status %d: %s", i, image, status, &errs)
		}
		if first, _, _ := strings.Cut(out.String(), "\n\n"); want == "" {
			want = first
		} else if image == "tiny/amd64" && first != want {
			t.Fatalf("cycle %d: the trace is\n%s\nnot\n%s", i, first, want)
		}
	}
	n := 0
	for ; n < warmup; n++ {
		cycle(n)
	}
	before, start := holdings(t), time.Now()
	for ; n < warmup+least || time.Since(start) < lasting; n++ {
		cycle(n)
		if done := n - warmup; done >= least && done&(done-1) == 0 {
			t.Logf("%d cycles: %v", done, holdings(t))
		}
	}
	after := holdings(t)
	t.Logf("%d cycles: %v, then %v", n-warmup, before, after)
	if after.files > before.files || after.maps > before.maps+16 || after.resident-before.resident > growth {
		t.Error("something is left of them")
	}
}
