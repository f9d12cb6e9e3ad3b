package debian

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"trapline/images/job"
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
		if err := aptError(&job.Error{Name: "apt-get", Stderr: stderr, Err: errors.New("exit status 100")}); !errors.Is(err, want) {
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
