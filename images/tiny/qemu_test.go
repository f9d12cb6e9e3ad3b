//go:build qemu

package tiny

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// QEMU is the oracle that knows nothing of our emulator: the kernels have to run
// there too, and say the same. `go test -tags qemu` runs these tests.

var update = flag.Bool("update", false, "write the golden files anew")

// Times and code addresses vary; the golden files have a sign instead.
var varying = []struct {
	re   *regexp.Regexp
	sign string
}{
	{regexp.MustCompile(`(?m)^\[ *\d+\.\d{6}\]`), "[TIME]"},
	{regexp.MustCompile(`0x(ffffffff8[0-9a-f]|8000|40)[0-9a-f]+`), "ADDRESS"},
	{regexp.MustCompile(`memory: \d+ KiB`), "memory: N KiB"},
	{regexp.MustCompile(`\r`), ""},
	{regexp.MustCompile(`(?s)^.*?\n(\[TIME\] tiny kernel)`), "$1"}, // what the firmware says
}

// machines are how QEMU is started. The virt machines have one serial port.
var machines = map[string][]string{
	"amd64":   {"qemu-system-x86_64", "-M", "pc", "-vga", "none"},
	"arm64":   {"qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a57"},
	"riscv64": {"qemu-system-riscv64", "-M", "virt"},
	"riscv64-m": {"qemu-system-riscv64", "-M", "virt", "-bios", "none",
		"-global", "virtio-mmio.force-legacy=false", "-device", "virtio-blk-device,drive=disk",
		"-drive", "file=tiny-riscv64-m.img,format=raw,readonly=on,if=none,id=disk"},
}

// faults are the kinds of the program fault that are not the same everywhere.
var faults = map[string]string{
	"amd64":   "fault divide; fault invalid; fault breakpoint; fault privileged; fault port; fault step",
	"arm64":   "fault invalid; fault breakpoint; fault privileged; fault system; fault eret; fault jump; fault odd",
	"riscv64": riscv64Faults, "riscv64-m": riscv64Faults,
}

const riscv64Faults = "fault invalid; fault short; fault breakpoint; fault privileged; fault machine; fault sret; fault jump"

func normal(console []byte) string {
	for _, v := range varying {
		console = v.re.ReplaceAll(console, []byte(v.sign))
	}
	return string(console)
}

func qemu(t *testing.T, arch string, arg ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	m := machines[arch]
	fixed := append([]string{"-m", "64", "-kernel", "tiny-" + arch + ".elf",
		"-display", "none", "-net", "none", "-no-reboot"}, m[1:]...)
	return exec.CommandContext(ctx, m[0], append(fixed, arg...)...)
}

func TestConsole(t *testing.T) {
	for _, arch := range Names() {
		for _, test := range []struct{ name, line string }{
			{"default", ""},
			{"shell", `echo 'a;  b' c; echo one two | cat | wc; nosuch; echo x | exit 4; false; exit 3; echo no`},
			{"work", `forks 40; calls 1000; spin 100000; pipe 20000; memory 256; sleep 30; ps`},
			{"bad", `read-bad; fault null; fault kernel; fault nx; ` + faults[arch] + `; fault text`},
			{"reboot", "reboot; echo no"},
			{"triple", "triple; echo no"},
		} {
			t.Run(arch+"/"+test.name, func(t *testing.T) {
				line := "poweroff=reboot"
				if test.line != "" {
					line += ` cmd="` + test.line + `"`
				}
				out, err := qemu(t, arch, "-serial", "stdio", "-append", line).Output()
				if err != nil {
					t.Fatalf("qemu: %v\n%s", err, out)
				}
				golden(t, filepath.Join(arch, test.name+".golden"), normal(out))
			})
		}
	}
}

// The virt machines can be turned off.
func TestPowerOff(t *testing.T) {
	for _, arch := range []string{"arm64", "riscv64", "riscv64-m"} {
		out, err := qemu(t, arch, "-serial", "stdio", "-append", `cmd="echo done"`).Output()
		if err != nil || !bytes.HasSuffix(out, []byte("System halted\n")) {
			t.Errorf("%s: %v\n%s", arch, err, out)
		}
	}
}

// Without firmware the ticks may come by the machine's timer, and a line by the console.
func TestMachineMode(t *testing.T) {
	for _, tt := range []struct{ words, input, want string }{
		{`timer=clint cmd="forks 3; sleep 100; uname"`, "", "3 forks\ntiny kernel 1.0 (riscv64-m)\n"},
		{"cmd=console", "echo one\nfalse\nexit\n", "one\n[TIME] tiny: command ended with status 1\n"},
	} {
		cmd := qemu(t, "riscv64-m", "-serial", "stdio", "-append", tt.words)
		cmd.Stdin = strings.NewReader(tt.input)
		out, err := cmd.Output()
		if have := normal(out); err != nil || !strings.Contains(have, tt.want) {
			t.Errorf("%s: %v\n%s", tt.words, err, have)
		}
	}
}

func golden(t *testing.T, name, have string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(have), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), have); diff != "" {
		t.Errorf("console differs from %s (-want +have):\n%s", path, diff)
	}
}

// The control channel: the guest says R, gets C, and answers with O, E and S.
func TestChannel(t *testing.T) {
	console := filepath.Join(t.TempDir(), "console")
	cmd := qemu(t, "amd64", "-serial", "file:"+console, "-serial", "stdio", "-append", "poweroff=reboot")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr, status bytes.Buffer
	streams := map[byte]io.Writer{'O': &stdout, 'E': &stderr, 'S': &status}
	for {
		kind, data, err := readFrame(out)
		if err != nil {
			break
		}
		if kind == 'R' {
			writeFrame(t, in, 'C', "echo to stdout; nosuch; forks 2; fault null")
			continue
		}
		w, ok := streams[kind]
		if !ok {
			t.Fatalf("frame of type %q", kind)
		}
		w.Write(data)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if have, want := stdout.String(), "to stdout\n2 forks\n"; have != want {
		t.Errorf("standard output %q, want %q", have, want)
	}
	if have, want := stderr.String(), "sh: nosuch: not found\n"; have != want {
		t.Errorf("standard error %q, want %q", have, want)
	}
	if have, want := status.Bytes(), []byte{139}; !bytes.Equal(have, want) {
		t.Errorf("status %v, want %v", have, want)
	}
	log, _ := os.ReadFile(console)
	if !bytes.Contains(log, []byte("System halted")) {
		t.Errorf("console lacks the end:\n%s", log)
	}
}

func readFrame(r io.Reader) (kind byte, data []byte, err error) {
	var header [3]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, err
	}
	data = make([]byte, binary.LittleEndian.Uint16(header[1:]))
	_, err = io.ReadFull(r, data)
	return header[0], data, err
}

func writeFrame(t *testing.T, w io.Writer, kind byte, data string) {
	t.Helper()
	frame := binary.LittleEndian.AppendUint16([]byte{kind}, uint16(len(data)))
	if _, err := w.Write(append(frame, data...)); err != nil {
		t.Error(err)
	}
}

// A panic and a hang do not end QEMU: the console is all there is to see.
func TestStops(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"panic", "tiny: panic: asked for by pid 4"},
		{"hang", `cmd="hang; echo no"`},
	} {
		for _, arch := range Names() {
			t.Run(arch+"/"+test.name, func(t *testing.T) { testStop(t, arch, test.name, test.want) })
		}
	}
}

func testStop(t *testing.T, arch, name, want string) {
	cmd := qemu(t, arch, "-serial", "stdio", "-append", `cmd="`+name+`; echo no"`)
	time.AfterFunc(3*time.Second, func() { cmd.Process.Kill() })
	out, _ := cmd.Output()
	if !bytes.Contains(out, []byte(want)) {
		t.Errorf("console lacks %q:\n%s", want, out)
	}
	if bytes.Contains(out, []byte("System halted")) {
		t.Errorf("the guest went on:\n%s", out)
	}
}
