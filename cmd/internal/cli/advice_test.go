package cli

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestAdviceAboutTheCache(t *testing.T) {
	for _, err := range []error{
		&os.PathError{Op: "mkdir", Path: "/cache", Err: syscall.EROFS},
		&os.PathError{Op: "write", Path: "/cache/snapshots/a", Err: syscall.ENOSPC},
	} {
		if got := advice(fmt.Errorf("making a snapshot: %w", err)); !strings.Contains(got, "XDG_CACHE_HOME") {
			t.Errorf("%v: %q", err, got)
		}
	}
}
