//go:build qemu

package images_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"trapline/images"
	"trapline/images/control"
	"trapline/images/initramfs"
)

// TestInit runs the init of Linux guests under another emulator: QEMU, with a
// kernel and a static busybox from the environment.
//
//	TRAPLINE_VMLINUZ=... TRAPLINE_BUSYBOX=/usr/bin/busybox go test -tags qemu -run TestInit ./images
func TestInit(t *testing.T) {
	long := strings.Repeat("x", control.MaxCommand-len("echo ")-1)
	for _, tt := range []struct {
		name, command  string
		stdout, stderr string
		status         int
	}{
		{"status", "exit 3", "", "", 3},
		{"signal", "kill -9 $$", "", "", 137},
		{"both", "echo out; echo err >&2; echo out2", "out\nout2\n", "err\n", 0},
		{"bytes", `printf '\000\003\004\021\023\177\377\r\n'`, "\x00\x03\x04\x11\x13\x7f\xff\r\n", "", 0},
		{"environment", "env | sort; pwd; cat; id -u; tty 0<&0", "HOME=/\nPATH=/bin:/sbin:/usr/bin:/usr/sbin\nPWD=/\nSHLVL=1\nTERM=dumb\n/\n0\nnot a tty\n", "", 1},
		{"mounts", "cut -d' ' -f1-3 /proc/mounts", "rootfs / rootfs\nproc /proc proc\nsysfs /sys sysfs\ndevtmpfs /dev devtmpfs\ntmpfs /tmp tmpfs\n", "", 0},
		{"syntax", "if", "", "sh: syntax error: unexpected end of file (expecting \"then\")\n", 2},
		{"background", "yes >/dev/null & sleep 1000 & echo done", "done\n", "", 0},
		{"orphans", "(sleep 0.1 &) ; (true & true &); sleep 0.3; ps | grep -c ' [Z] ' ; true", "0\n", "", 0},
		{"much", "seq 100000 | md5sum; seq 20000", "5c6ad6c0a6a4dbd0f6b6ea3a8bb5a8e5  -\n", "", 0},
		{"long", "echo " + long, long + "\n", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			status, console := runQEMU(t, tt.command, &stdout, &stderr)
			if tt.name == "much" {
				sum := exec.Command("sh", "-c", tt.command)
				out, err := sum.Output()
				if err != nil {
					t.Fatal(err)
				}
				tt.stdout = string(out)
			}
			if status != tt.status || stdout.String() != tt.stdout || stderr.String() != tt.stderr {
				t.Errorf("status %d, want %d\nstdout %q\nwant %q\nstderr %q\nwant %q\n%s", status, tt.status,
					clip(stdout.String()), clip(tt.stdout), stderr.String(), tt.stderr, console)
			}
		})
	}
}

// TestVirt boots the images of the virt machines in QEMU with the command line that
// they have in ours. QEMU has one serial port there, so init finds no channel and
// turns the machine off. The images have to be in the user's cache.
func TestVirt(t *testing.T) {
	for _, tt := range []struct {
		image, kernel string
		qemu          []string
	}{
		{"debian/arm64", "vmlinuz", []string{"qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a57"}},
		{"linux/riscv64", "Image", []string{"qemu-system-riscv64", "-M", "virt"}},
		{"linux/riscv64-full", "Image", []string{"qemu-system-riscv64", "-M", "virt"}},
	} {
		t.Run(tt.image, func(t *testing.T) {
			spec, err := images.Store{}.Open(tt.image)
			if err != nil {
				t.Fatal(err)
			}
			root, err := spec.Initrd.Data()
			if err != nil {
				t.Fatal(err)
			}
			initrd := filepath.Join(t.TempDir(), "initrd")
			if err := os.WriteFile(initrd, root, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
			defer cancel()
			arg := append(tt.qemu[1:], "-m", "256", "-display", "none", "-no-reboot", "-serial", "stdio",
				"-kernel", filepath.Join(filepath.Dir(spec.Kernel), tt.kernel), "-initrd", initrd, "-append", spec.Append)
			out, err := exec.CommandContext(ctx, tt.qemu[0], arg...).CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("init: no control channel")) || !bytes.Contains(out, []byte("reboot: Power down")) {
				t.Errorf("qemu: %v\n%s", err, out)
			}
		})
	}
}

func clip(s string) string { return s[:min(len(s), 300)] }

// runQEMU boots a guest for one command and returns its status, or -1 and what the
// console showed.
func runQEMU(t *testing.T, command string, stdout, stderr *bytes.Buffer) (int, string) {
	t.Helper()
	dir := t.TempDir()
	socket, initrd := filepath.Join(dir, "s"), filepath.Join(dir, "initrd")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := os.WriteFile(initrd, archive(t), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
	defer cancel()
	var console bytes.Buffer
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", "-M", "pc", "-m", "256", "-accel", "tcg",
		"-display", "none", "-no-reboot", "-kernel", os.Getenv("TRAPLINE_VMLINUZ"), "-initrd", initrd,
		"-append", "console=ttyS0 panic=-1 cryptomgr.notests mitigations=off norandmaps",
		"-serial", "stdio", "-serial", "unix:"+socket)
	cmd.Stdout, cmd.Stderr = &console, &console
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	host, err := control.NewHost(command, stdout, stderr, func(p []byte) { conn.Write(p) })
	if err != nil {
		t.Fatal(err)
	}
	for buf := make([]byte, 4096); ; {
		n, err := conn.Read(buf)
		for _, b := range buf[:n] {
			if err := host.Byte(b); err != nil {
				t.Error(err)
			}
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("qemu: %v", err)
	}
	if status, ok := host.Status(); ok {
		return status, ""
	}
	return -1, console.String()
}

func archive(t *testing.T) []byte {
	t.Helper()
	program, err := os.ReadFile("init/init-amd64")
	if err != nil {
		t.Fatal(err)
	}
	busybox, err := os.ReadFile(os.Getenv("TRAPLINE_BUSYBOX"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := initramfs.Builder{Init: program, Busybox: busybox}.Build()
	if err != nil {
		t.Fatal(err)
	}
	return a
}
