package images

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const builtImage = "linux/riscv64"

// fakeMake stands for make: of the kernel, which knows its options, and of busybox.
const fakeMake = `#!/bin/sh
echo "make $*" >> "$FAKE/log"
case "$*" in
*tinyconfig) echo "# CONFIG_TTY is not set" > .config ;;
*olddefconfig) if test -e "$FAKE/old"; then echo "CONFIG_OTHER=y" > .config; fi ;;
*Image)
	if test -e "$FAKE/wrong"; then
		echo "warning: something" >&2
		echo "kernel/fork.c:7:1: error: expected ';'" >&2
		echo "make: *** [Makefile:9: vmlinux] Error 2" >&2
		exit 2
	fi
	mkdir -p arch/riscv/boot include/config
	printf '\177ELF kernel' > vmlinux
	echo image > arch/riscv/boot/Image
	echo 6.9.1 > include/config/kernel.release
	echo map > System.map
	echo "  CC      init/main.o" ;;
*busybox) cp "$FAKE/busybox" busybox ;;
esac
`

const fakeCompiler = `#!/bin/sh
case "$1" in
--version) cat "$FAKE/gcc-version" ;;
-print-file-name=*) echo "$FAKE/libc.a" ;;
esac
`

const fakeDpkgSource = `#!/bin/sh
mkdir -p source/debian/config/pkg && echo CONFIG_STATIC=y > source/debian/config/pkg/static
`

// fakeTar leaves the source of Linux alone; dpkg-deb needs a real one.
const fakeTar = `#!/bin/sh
case "$*" in *--strip-components*) exit 0 ;; esac
PATH=${PATH#*:} exec tar "$@"
`

// newFakeBuildHost is a fake host with what a build needs.
func newFakeBuildHost(t *testing.T) fakeDebian {
	t.Helper()
	d := newFakeDebian(t)
	d.script("make", fakeMake)
	d.script("dpkg-source", fakeDpkgSource)
	d.script("riscv64-linux-gnu-gcc-12", fakeCompiler)
	d.script("riscv64-linux-gnu-ld", "#!/bin/sh\n")
	for _, name := range []string{"bc", "bison", "bzip2", "flex", "gcc", "xz"} {
		d.script(name, "#!/bin/sh\n")
	}
	d.script("tar", fakeTar)
	d.write("gcc-version", "gcc 12.2.0\nand more\n")
	program := fakeProgram(t, "riscv64")
	d.write("busybox", string(program))
	stanzas := "Package: linux-source\nVersion: 6.9.1-1\nDepends: linux-source-6.9, x\n\n" +
		d.deb("amd64", "linux-source-6.9", "6.9.1-1", map[string][]byte{
			"usr/src/linux-source-6.9.tar.xz": []byte("an archive"),
		})
	d.write("lists", stanzas)
	return d
}

func TestBuild(t *testing.T) {
	fake, s := newFakeBuildHost(t), newStore(t)
	if _, err := s.Open(builtImage); err == nil || err.Error() != "image linux/riscv64 is not built: run 'trapline image build linux/riscv64'" {
		t.Errorf("before: %v", err)
	}
	build := func() {
		t.Helper()
		if err := s.Build(t.Context(), builtImage, NoProgress{}); err != nil {
			t.Fatal(err)
		}
		checkTidy(t, s, "linux-riscv64", "linux-riscv64.lock")
	}
	build()
	if log := fake.log(); !strings.Contains(log, "ARCH=riscv CROSS_COMPILE=riscv64-linux-gnu- CC=riscv64-linux-gnu-gcc-12") {
		t.Errorf("called:\n%s", log)
	}
	spec, err := s.Open(builtImage)
	if err != nil {
		t.Fatal(err)
	}
	if spec.State != Built || spec.Version != "6.9.1-1" || spec.Release != "6.9.1" || len(spec.Packages) != 2 || len(spec.Files) != 5 || spec.Initrd.ID() == "" {
		t.Errorf("%+v", spec)
	}
	config, err := os.ReadFile(filepath.Join(s.dirOf(builtImage), "config"))
	if err != nil || !strings.Contains(string(config), "\nCONFIG_SERIAL_8250=y\n") {
		t.Errorf("config %q, %v", config, err)
	}

	build()
	if log := fake.log(); strings.Contains(log, "make") {
		t.Errorf("built again:\n%s", log)
	}
	fake.write("gcc-version", "gcc 13.1.0\n")
	build()
	if log := fake.log(); !strings.Contains(log, "vmlinux Image") {
		t.Errorf("not built again with another compiler:\n%s", log)
	}
}

func TestMissingOptions(t *testing.T) {
	const group = "CONFIG_OLD=y\n# or, in Linux 9 and later\nCONFIG_NEW=y\nCONFIG_BESIDE=y\n"
	for _, c := range []struct{ group, have, want string }{
		{"CONFIG_A=y\nCONFIG_B=y\n# CONFIG_C is not set\n", "CONFIG_A=y CONFIG_B=y", ""},
		{"CONFIG_A=y\nCONFIG_B=y\n", "CONFIG_A=m", "CONFIG_A=y CONFIG_B=y"},
		{group, "CONFIG_OLD=y", ""},
		{group, "CONFIG_NEW=y CONFIG_BESIDE=y", ""},
		{group, "CONFIG_NEW=y", "CONFIG_OLD=y"},
		{group, "", "CONFIG_OLD=y"},
	} {
		if got := strings.Join(missingOptions(c.group, strings.Fields(c.have)), " "); got != c.want {
			t.Errorf("%q has %q: %q are missing (want %q)", c.have, c.group, got, c.want)
		}
	}
}

func TestBuildErrors(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(fakeDebian)
		want  string
	}{
		{"wrong", func(d fakeDebian) { d.write("wrong", "") },
			"building linux/riscv64: compiling the kernel: make: kernel/fork.c:7:1: error: expected ';'"},
		{"options", func(d fakeDebian) { d.write("old", "") },
			"building linux/riscv64: this Linux does not take the options CONFIG_64BIT=y, "},
		{"no source", func(d fakeDebian) { d.write("lists", "Package: other\n\n"); d.write("archive", "") },
			"building linux/riscv64: package linux-source is not in Debian's lists"},
		{"no network", func(d fakeDebian) { d.write("fail", "E: Could not connect to x\n") },
			"building linux/riscv64: cannot reach the Debian package server"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, s := newFakeBuildHost(t), newStore(t)
			test.spoil(d)
			err := s.Build(t.Context(), builtImage, NoProgress{})
			if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q", err, test.want)
			}
			checkTidy(t, s, "linux-riscv64.lock")
		})
	}
}

// What is missing is said at once, in a form that can be typed.
func TestBuildNeeds(t *testing.T) {
	d, s := newFakeBuildHost(t), newStore(t)
	t.Setenv("PATH", filepath.Join(d.dir, "bin"))
	d.script("dpkg-deb", "#!/bin/sh\n")
	for _, name := range []string{"bc", "flex", "riscv64-linux-gnu-gcc-12", "riscv64-linux-gnu-ld"} {
		d.remove("bin/" + name)
	}
	err := s.Build(t.Context(), builtImage, NoProgress{})
	want := "building linux/riscv64: packages are missing here: apt-get install " +
		"bc flex binutils-riscv64-linux-gnu gcc-12-riscv64-linux-gnu libc6-dev-riscv64-cross"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

// Each verb sends to the other one.
func TestVerbs(t *testing.T) {
	s := newStore(t)
	for _, test := range []struct{ have, want string }{
		{s.Get(t.Context(), builtImage, NoProgress{}).Error(), "run 'trapline image build linux/riscv64'"},
		{s.Build(t.Context(), fakeImage, NoProgress{}).Error(), "run 'trapline image get debian/amd64'"},
	} {
		if !strings.HasSuffix(test.have, test.want) {
			t.Errorf("error %q, want %q", test.have, test.want)
		}
	}
}

// A foreign architecture needs lists of its own; the host's are left alone.
func TestGetForeign(t *testing.T) {
	fake, s := newFakeDebian(t), newStore(t)
	fake.publishFor("arm64", "6.9.0-1-cloud-arm64", fakeVersion)
	if err := s.Get(t.Context(), "debian/arm64", NoProgress{}); err != nil {
		t.Fatal(err)
	}
	log := fake.log()
	for line := range strings.Lines(log) {
		if strings.HasSuffix(line, "update\n") && !strings.Contains(line, "Dir::State=") {
			t.Errorf("changes the host's lists: %s", line)
		}
	}
	if !strings.Contains(log, "APT::Architectures=arm64") {
		t.Errorf("called:\n%s", log)
	}
	if spec, err := s.Open("debian/arm64"); err != nil || spec.Release != "6.9.0-1-cloud-arm64" {
		t.Errorf("%+v, %v", spec, err)
	}
}

func TestErrorLine(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a.c:1: warning: w\na.c:2: error: e\nmake: *** [a.o] Error 1\n", "a.c:2: error: e"},
		{"ld: x\nmake: *** [a] Error 1\n", "make: *** [a] Error 1"},
		{"x: Error: no such instruction\n", "x: Error: no such instruction"},
		{"/bin/sh: 1: aarch64-linux-gnu-gcc-14: not found\nmake: *** [a.o] Error 127\n", "/bin/sh: 1: aarch64-linux-gnu-gcc-14: not found"},
		{"", "exit status 2"},
	} {
		if got := errorLine(test.text, "exit status 2"); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}
