package cli

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestAdviceAboutTheCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/cache")
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&os.PathError{Op: "mkdir", Path: "/cache", Err: syscall.EROFS}, true},
		{&os.PathError{Op: "write", Path: "/cache/trapline/snapshots/a", Err: syscall.ENOSPC}, true},
		{&os.PathError{Op: "write", Path: "/home/trace.txt", Err: syscall.ENOSPC}, false},
		{syscall.ENOSPC, false},
	} {
		if got := advice(fmt.Errorf("making a snapshot: %w", c.err)); strings.Contains(got, "XDG_CACHE_HOME") != c.want {
			t.Errorf("%v: %q", c.err, got)
		}
	}
}
