package images

import (
	"context"
	"errors"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

func TestParseStanzas(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []map[string]string
	}{
		{"", nil},
		{"\n\n", nil},
		{"Package: a\nVersion: 1:2-3\n", []map[string]string{{"Package": "a", "Version": "1:2-3"}}},
		{"Package: a\nTag: x,\n y: z\n\nPackage: b\nnonsense\n", []map[string]string{
			{"Package": "a", "Tag": "x,"}, {"Package": "b"}}},
	} {
		if got := parseStanzas(tt.text); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: %v", tt.text, got)
		}
	}
}

func FuzzParseStanzas(f *testing.F) {
	f.Add("Package: a\nDepends: linux-image-1 (= 2)\n\nPackage: b\n c: d\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, st := range parseStanzas(text) {
			if len(st) == 0 {
				t.Error("a stanza without a field")
			}
			for key, value := range st {
				if strings.ContainsAny(key+value, "\n") || strings.HasPrefix(key, " ") {
					t.Errorf("field %q: %q", key, value)
				}
			}
		}
	})
}

func TestKernelDependency(t *testing.T) {
	d := debianAMD64.origin.(*debian)
	for depends, want := range map[string]string{
		"linux-image-6.1.0-56-cloud-amd64 (= 6.1.192-2)":          "6.1.0-56-cloud-amd64 6.1.192-2",
		"base, linux-image-6.12.9+deb13-cloud-amd64 (= 6.12.9-1)": "6.12.9+deb13-cloud-amd64 6.12.9-1",
		"linux-image-6.1.0-56-cloud-amd64 (>= 6.1.192-2)":         "",
		"": "",
	} {
		m, err := d.dependency([]map[string]string{{"Package": "other"}, {"Package": d.kernel, "Depends": depends}})
		if got := strings.Join(m, "|"); (err == nil) != (want != "") || err == nil && m[1]+" "+m[2] != want {
			t.Errorf("%q: %s, %v", depends, got, err)
		}
	}
}

// TestAptError uses the words of apt 2.6 and of a few older ones.
func TestAptError(t *testing.T) {
	for stderr, want := range map[string]error{
		"E: Failed to fetch http://a/b.deb  Temporary failure resolving 'a'":                             ErrNetwork,
		"E: Failed to fetch http://a/b.deb  Could not connect to a:80 (1.2.3.4). - connect (111)":        ErrNetwork,
		"E: Failed to fetch http://a/b.deb  Unable to connect to a:http: [IP: 1.2.3.4 80]":               ErrNetwork,
		"E: Failed to fetch http://a/b.deb  Connection failed [IP: 1.2.3.4 80]":                          ErrNetwork,
		"E: Failed to fetch http://a/b.deb  Cannot initiate the connection to a:80 (::1)":                ErrNetwork,
		"E: You don't have enough free space in /tmp/x.":                                                 syscall.ENOSPC,
		"E: Failed to fetch http://a/b.deb  Error writing to file - write (28: No space left on device)": syscall.ENOSPC,
	} {
		if err := aptError(&commandError{"apt-get", stderr, errors.New("exit status 100")}); !errors.Is(err, want) {
			t.Errorf("%q: %v", stderr, err)
		}
	}
	if aptError(nil) != nil {
		t.Error("an error of nothing")
	}
	if err := aptError(context.Canceled); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

func TestCommandError(t *testing.T) {
	for stderr, want := range map[string]string{
		"W: a\nE: b\nE: c\n": "tool: b",
		"\nsomething else\n": "tool: something else",
		"":                   "tool: exit status 1",
	} {
		err := &commandError{"tool", stderr, errors.New("exit status 1")}
		if err.Error() != want {
			t.Errorf("%q: %q, want %q", stderr, err, want)
		}
	}
	_, err := run(t.Context(), "", "sh", "-c", "echo E: no >&2; exit 7")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 || err.Error() != "sh: no" {
		t.Errorf("error %v", err)
	}
}
