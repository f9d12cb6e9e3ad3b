package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"trapline/cmd/internal/sandbox"
	"trapline/probes/d/option"
)

// What the actions of programs need of the host.
func TestHostPolicy(t *testing.T) {
	for _, c := range []struct {
		program string
		want    sandbox.Policy
	}{
		{`BEGIN { trace(1); freopen(""); }`, sandbox.Policy{}},
		{`BEGIN { trace(1); } END { system("date"); }`, sandbox.Policy{Children: true}},
		{`BEGIN { freopen("out/trace"); } END { freopen("/o/%s.%d", execname, pid); }`,
			sandbox.Policy{Files: []string{"out/trace"}, Write: []string{"/o"}}},
		{`BEGIN { freopen("%s", execname); freopen("/a%d/b", 1); }`, sandbox.Policy{Write: []string{".", "/"}}},
	} {
		e := &env{ctx: t.Context(), stdout: io.Discard, stderr: io.Discard}
		tr := &tracing{options: option.New()}
		if err := tr.parse(tr.flags(e, "dtrace", "", noFlags), []string{"-n", c.program}); err != nil {
			t.Fatal(err)
		}
		g, err := e.newGuest(tr.guest, tr.wanted(io.Discard))
		if err != nil {
			t.Fatal(err)
		}
		tracer := &tracer{env: e, tracing: tr, guest: g, out: io.Discard}
		if err := tracer.prepare(); err != nil {
			t.Fatal(err)
		}
		if have := hostPolicy(tracer.session.Effects()); !reflect.DeepEqual(have, c.want) {
			t.Errorf("%s: %+v, want %+v", c.program, have, c.want)
		}
		g.close()
	}
}

// A process that cannot enter its sandbox goes on without, unless it is required. Here it is in another
// one, that lets it enter none.
func TestSandboxRequired(t *testing.T) {
	const child = "TRAPLINE_TEST_SANDBOX_REQUIRED"
	if how := os.Getenv(child); how != "" {
		sandbox.Enter(sandbox.Policy{Read: []string{"/"}})
		os.Exit(Main([]string{"boot", "-q", "--sandbox", how, "-c", "echo up"}, nil, os.Stdout, os.Stderr))
	}
	if !sandbox.Host().Seccomp {
		t.Skip("this host has no seccomp")
	}
	for how, want := range map[string]result{
		"auto":    {0, "up\n", ""},
		"off":     {0, "up\n", ""},
		"require": {1, "", "trapline: --sandbox=require: "},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSandboxRequired$")
		cmd.Env = append(os.Environ(), child+"="+how, "XDG_CACHE_HOME="+filepath.Join(t.TempDir(), "none"))
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		cmd.Run()
		text := errs.String()
		if how != "require" {
			text = "" // the cache cannot be written
		}
		if cmd.ProcessState.ExitCode() != want.status || out.String() != want.stdout || !strings.HasPrefix(text, want.stderr) ||
			strings.Count(text, "\n") > 1 {
			t.Errorf("%s: %v, %q, %q", how, cmd.ProcessState, &out, &errs)
		}
	}
}

// A cache may be in several places.
func TestPolicyLinks(t *testing.T) {
	cache, shared := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	in := func(name string) string { return filepath.Join(cache, "trapline", name) }
	if err := os.MkdirAll(in("images/own"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"snapshots", "images/linked"} {
		if err := os.Symlink(shared, in(name)); err != nil {
			t.Fatal(err)
		}
	}
	p := new(guestOptions).policy()
	if want := []string{in("snapshots"), in("")}; !slices.Equal(p.Write, want) {
		t.Errorf("written to: %v, want %v", p.Write, want)
	}
	if !slices.Contains(p.Read, in("images/linked")) || slices.Contains(p.Read, in("images/own")) {
		t.Errorf("read: %v", p.Read)
	}
}
