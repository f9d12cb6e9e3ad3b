package job

import (
	"errors"
	"os/exec"
	"testing"
)

func TestError(t *testing.T) {
	for stderr, want := range map[string]string{
		"W: a\nE: b\nE: c\n": "tool: b",
		"\nsomething else\n": "tool: something else",
		"":                   "tool: exit status 1",
	} {
		err := &Error{"tool", stderr, errors.New("exit status 1")}
		if err.Error() != want {
			t.Errorf("%q: %q, want %q", stderr, err, want)
		}
	}
	_, err := Run(t.Context(), "", "sh", "-c", "echo E: no >&2; exit 7")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 || err.Error() != "sh: no" {
		t.Errorf("error %v", err)
	}
}
