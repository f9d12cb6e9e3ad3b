package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"trapline/emu"
	"trapline/images/tiny"
	"trapline/kernel/arch"
)

// result is what a run of the command leaves.
type result struct {
	status         int
	stdout, stderr string
}

func run(args ...string) result {
	var stdout, stderr bytes.Buffer
	status := mainIn(nil, args, strings.NewReader(""), &stdout, &stderr)
	return result{status, stdout.String(), stderr.String()}
}

// hermetic gives the test an empty cache and no environment to lean on. It runs in an
// empty directory, to which nothing may be added.
func hermetic(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "cache"))
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Cleanup(func() {
		if left, _ := os.ReadDir(tmp); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// TestErrors has one line on stderr for each thing that is wrong, and nothing on stdout.
func TestErrors(t *testing.T) {
	hermetic(t)
	dir := t.TempDir()
	t.Chdir(dir)
	badFiles(t)
	for _, tt := range []struct {
		args   string // a blank between two, _ for one in them
		status int
		stderr string // a pattern
	}{
		{"frob", 2, `trapline: there is no command "frob": 'trapline help' lists them`},
		{"help frob", 2, `trapline: there is no command "frob".*`},
		{"boot --seed x", 2, "trapline: --seed x: it must be a whole number"},
		{"boot --nosuch", 2, `trapline: boot: unknown flag: --nosuch: 'trapline boot --help' shows the flags`},
		{"boot a b", 2, `trapline: boot: one IMAGE at a time, as an argument or with -k`},
		{"boot -k a b", 2, `trapline: boot: one IMAGE at a time, as an argument or with -k`},
		{"boot --memory 1z", 2, `trapline: --memory: size "1z": .*`},
		{"boot --memory 99999999999", 2, `trapline: --memory: size "99999999999": .*`},
		{"boot --memory=", 2, `trapline: --memory: size "": .*`},
		{"boot --memory 0", 2, `trapline: --memory 0: a guest needs some memory`},
		{"boot --memory 1", 1, `trapline: guest memory of 1048576 bytes: it must be 16 MiB to 4 GiB, in whole pages`},
		{"boot --memory 5G", 1, `trapline: guest memory of 5368709120 bytes: .*`},
		{"boot --until=-1", 2, `trapline: --until -1: it must be a number of seconds from 0 to 1e9`},
		{"boot --until soon", 2, `trapline: --until soon: it must be a number of seconds from 0 to 1e9`},
		{"boot --timeout NaN", 2, `trapline: --timeout NaN: .*`},
		{"boot --timeout +Inf", 2, `trapline: --timeout \+Inf: .*`},
		{"boot -c _", 2, `trapline: -c: the command is empty`},
		{"boot -c a\x00b", 2, `trapline: -c: command for the guest holds a NUL byte`},
		{"boot -c " + strings.Repeat("x", 40000), 2, `trapline: -c: command for the guest has 40000 bytes: 1 to 32768 are allowed`},
		{"boot --append " + strings.Repeat("x", 40000), 1, `trapline: tiny/amd64: the kernel command line of 40000 bytes is too long: this kernel takes \d+`},
		{"boot --initrd missing", 1, `trapline: reading the initrd: open missing: no such file or directory`},
		{"boot --initrd huge", 1, `trapline: tiny/amd64: the initrd of 65 MiB does not fit in 64 MiB of RAM: .*`},
		{"boot --input missing", 1, `trapline: reading the console's input: open missing: .*`},

		{"boot missing", 1, `trapline: unknown image "missing": there are debian/amd64, .*tiny/amd64.*, or give the path of a kernel`},
		{"boot ./missing", 1, `trapline: unknown image: stat ./missing: no such file or directory`},
		{"boot .", 1, `trapline: unknown image ".": it is not a regular file`},
		{"boot empty", 1, `trapline: empty: not a kernel: the file is empty`},
		{"boot text", 1, `trapline: text: not a kernel: neither an ELF file nor a Linux bzImage or Image`},
		{"boot truncated", 1, `trapline: kernel image truncated: truncated: .*`},
		{"boot s390", 1, `trapline: kernel image s390: no support for EM_S390 kernels \(supported: amd64.*\)`},
		{"boot elf32", 1, `trapline: kernel image elf32: a 32-bit ELF file; only 64-bit kernels can be traced`},
		{"boot debian/amd64", 1, `trapline: image debian/amd64 is not fetched: run 'trapline image get debian/amd64'`},
		{"disas -k bzImage f", 1, `trapline: bzImage is a compressed kernel, without symbols: give its vmlinux with --debug-file`},
		{"boot -c true bzImage", 1, `trapline: -c needs trapline's init in the guest: give --initrd, .*: run 'trapline image get debian/amd64'`},
		{"boot --debug-file missing", 1, `trapline: opening kernel image: open missing: .*`},

		{"image", 2, `trapline: image: say one of: ls, get IMAGE, build IMAGE, build-module DIR, info IMAGE, rm TREE`},
		{"image get nosuch", 1, `trapline: unknown image "nosuch": .*`},
		{"disas", 2, `trapline: disas: name one FUNCTION, or say --all`},
		{"disas --all f", 2, `trapline: disas: name one FUNCTION, or say --all`},
		{"disas --format json f", 2, `trapline: disas: --format "json": it must be text or tsv`},
		{"disas sys_frok", 1, `trapline: disas: there is no function sys_frok in tiny/amd64: did you mean sys_fork, .*\?`},

		{"inline", 2, `trapline: inline: name one FUNCTION`},
		{"inline --format tsv f", 2, `trapline: inline: --format "tsv": it must be text or json`},
		{"inline pick_nxet", 1, `trapline: inline: there is no function pick_nxet in tiny/amd64: did you mean pick_next\?`},

		{"dtrace", 2, `dtrace: nothing to trace: .*`},
		{"dtrace -n", 2, `dtrace: flag needs an argument: 'n' in -n: 'trapline dtrace --help' shows the flags`},
		{"dtrace -x nosuch -n BEGIN", 2, `dtrace: no option is called "nosuch"`},
		{"dtrace -x bufsize=x -n BEGIN", 2, `dtrace: option bufsize: "x" is not a size`},
		{"dtrace -b x -n BEGIN", 2, `dtrace: -b: option bufsize: "x" is not a size`},
		{"dtrace --from end -n BEGIN", 2, `dtrace: --from "end": it must be boot`},
		{"dtrace -s missing", 1, `dtrace: failed to open script: open missing: no such file or directory`},
		{"dtrace -s empty", 1, `dtrace: failed to compile script empty: .*`},
		{"dtrace -s bad.d", 1, `dtrace: failed to compile script bad.d: line 3: syntax error near ";"`},
		{"dtrace -s inplace.d", 1, `dtrace: failed to compile script inplace.d: line 1: option patch: .* -x patch=inplace on the command line`},
		{"dtrace -n BEGIN{x}", 1, `dtrace: invalid probe specifier BEGIN{x}: in action list: failed to resolve x: Unknown variable name`},
		{"dtrace -n BEGIN{exit($1)}", 1, `dtrace: invalid probe specifier .*: macro argument \$1 is not defined`},
		{"dtrace -n BEGIN{exit(0)} 5", 1, `dtrace: invalid probe specifier .*: extraneous argument '5' \(\$1 is not referenced\)`},
		{"dtrace -n kinst::sys_frok:", 1, `dtrace: invalid probe specifier kinst::sys_frok:: no function "sys_frok" in vmlinux \(nearest: sys_fork, .*\)`},
		{"dtrace -n kinst::sys_read:2", 1, `dtrace: invalid probe specifier kinst::sys_read:2: offset 2 is inside .*`},
		{"dtrace -n kinst::awk_lea_rip:34", 1, `dtrace: invalid probe specifier kinst::awk_lea_rip:34: .*it uses an address relative to EIP.*`},
		{"dtrace -n sys_fork:0", 1, `dtrace: invalid probe specifier sys_fork:0: .*: fbt has entry and return, and kinst makes probes when it is named, as in kinst::sys_fork:`},
		{"dtrace -f sys_frok", 1, `dtrace: invalid probe specifier sys_frok: .*: no function "sys_frok" in vmlinux \(nearest: sys_fork, .*\)`},
		{"dtrace -n BEGIN{exit(0)} -o missing/file", 1, `dtrace: failed to open the output file: open missing/file: no such file or directory`},
		{"dtrace -n BEGIN{ -o new", 1, `dtrace: invalid probe specifier BEGIN{: .*`},
	} {
		args := strings.Fields(tt.args)
		for i := range args {
			if args[i] == "_" {
				args[i] = ""
			}
		}
		got := run(args...)
		want := regexp.MustCompile("^" + tt.stderr + "\n$")
		if got.status != tt.status || got.stdout != "" || !want.MatchString(got.stderr) {
			t.Errorf("%.60q: status %d, want %d; stdout %.200q; stderr %.300q, want %q",
				tt.args, got.status, tt.status, got.stdout, got.stderr, tt.stderr)
		}
	}
	if _, err := os.Stat("new"); err == nil {
		t.Error("-o made its file although nothing was traced")
	}
}

// badFiles makes files that are no kernels, and scripts that are no programs.
func badFiles(t *testing.T) {
	elf, err := tiny.Kernel("amd64")
	if err != nil {
		t.Fatal(err)
	}
	changed := func(at int, b byte) []byte {
		p := bytes.Clone(elf)
		p[at] = b
		return p
	}
	zImage := make([]byte, 0x400)
	copy(zImage[0x1fe:], "\x55\xaa")
	copy(zImage[0x202:], "HdrS")
	for name, body := range map[string][]byte{
		"empty":     nil,
		"text":      []byte("This is not a kernel.\n"),
		"truncated": elf[:len(elf)/2],
		"s390":      changed(18, 22),
		"elf32":     changed(4, 1),
		"bzImage":   zImage,
		"huge":      make([]byte, 65<<20),
		"bad.d":     []byte("BEGIN\n{\n\tx = ;\n}\n"),
		"inplace.d": []byte("#pragma D option patch=inplace\nBEGIN { exit(0); }\n"),
	} {
		if err := os.WriteFile(name, body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Each flag of dtrace(1) is here, or says why it is not.
func TestFlags(t *testing.T) {
	f := new(tracing).flags(&env{}, "dtrace", "", noFlags)
	for _, c := range "abcefhilmnopqsvwxABCDFGHILOPSUVXZ36" {
		if c != 'c' && f.ShorthandLookup(string(c)) == nil {
			t.Errorf("there is no -%c", c)
		}
	}
	for _, a := range absent {
		name := map[string]string{"3": "32", "6": "64"}[a.flag]
		if name == "" {
			name = a.flag
		}
		got := run("dtrace", "-"+name, "-n", "BEGIN")
		if got.status != 2 || got.stderr != "dtrace: -"+name+": "+a.why+"\n" {
			t.Errorf("-%s: %+v", name, got)
		}
	}
}

func TestHelp(t *testing.T) {
	hermetic(t)
	if got := run(); got.status != 2 || got.stdout != "" || !strings.Contains(got.stderr, "trapline dtrace") {
		t.Errorf("without arguments: %+v", got)
	}
	for _, c := range commands() {
		if got := run("help"); !strings.Contains(got.stdout, c.short) || got.status != 0 {
			t.Errorf("help does not tell of %s", c.name)
		}
		a, b := run("help", c.name), run(c.name, "--help")
		if a != b || a.status != 0 || a.stderr != "" || !strings.HasPrefix(a.stdout, "trapline "+c.name) {
			t.Errorf("%s: %+v, %+v", c.name, a, b)
		}
		for line := range strings.Lines(a.stdout) {
			if strings.Contains(line, "absent") || strings.Contains(line, "%!") {
				t.Errorf("%s: %q", c.name, line)
			}
		}
	}
	if got := run("dtrace", "-x", "help"); got.status != 0 || !strings.Contains(got.stdout, "\nbufsize ") {
		t.Errorf("options: %+v", got)
	}
	if got := run("dtrace", "-V"); got != (result{0, "dtrace: Sun D 1.13\n", ""}) {
		t.Errorf("version of D: %+v", got)
	}
}

// Two machines in a process are one too many.
func TestBusy(t *testing.T) {
	hermetic(t)
	m, err := emu.New(arch.AMD64, emu.Config{Memory: emu.MinMemory})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	got := run("boot", "-c", "echo hi")
	if got.status != 1 || strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, emu.ErrBusy.Error()) {
		t.Errorf("%+v", got)
	}
}

// fullDisk takes some bytes and no more.
type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

// What cannot be written is reported once, and ends a run that would never end.
func TestFullDisk(t *testing.T) {
	hermetic(t)
	for _, args := range [][]string{
		{"help"}, {"boot", "--help"}, {"version"}, {"image", "ls"}, {"image", "info", "tiny/amd64"},
		{"disas", "sys_fork"}, {"disas", "--all", "--format", "tsv"},
		{"boot", "-c", "spin 1000000000000"},
		{"boot", "-q", "-c", "echo hello; spin 1000000000000"},
		{"dtrace", "-l"}, {"dtrace", "-V"}, {"dtrace", "-x", "help"},
		{"dtrace", "-q", "-c", "spin 1000000000000", "-x", "switchrate=1ms", "-n", `tick-1ms { printf("hello") }`},
	} {
		var stderr bytes.Buffer
		status := mainIn(nil, args, nil, &fullDisk{3}, &stderr)
		if text := stderr.String(); status != 1 || strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, syscall.ENOSPC.Error()+"\n") {
			t.Errorf("%q: status %d, stderr %q", args, status, text)
		}
	}
}

func TestComplain(t *testing.T) {
	for text, want := range map[string]string{
		"a: b\n":       "trapline: a: b\n",
		"one\ntwo":     "trapline: one two\n",
		"dtrace: none": "dtrace: none\n",
	} {
		var w bytes.Buffer
		(&env{stderr: &w}).complain(errors.New(text))
		if w.String() != want {
			t.Errorf("%q: %q", text, w.String())
		}
	}
}
