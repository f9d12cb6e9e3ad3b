package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"trapline/images"
	"trapline/images/control"
)

// A reference is QEMU as the other emulator of an image: the same kernel, initrd and
// command line, on the machine that ours is like, with one thread for the guest.
type reference struct {
	image   string
	program string
	in      string   // Debian's package of the program
	machine []string // machine and CPU
	serial  []string // serial ports, the console first; standard input and output is the one that init talks on
	kernel  string   // the file beside the image's kernel that QEMU takes; empty for that itself
	ready   []byte   // begins what comes from there when init is ready
	end     string   // a guest's command that ends both emulators
	aim     float64  // for the CPU time of a boot: at most so many times QEMU's
}

// The machine virt has one serial port in QEMU, so our init, which wants a second one for
// its control channel, says on the console that there is none: where it would say on the
// channel that it is ready.
var noChannel = []byte("init: no control channel")

var (
	debianReference = reference{
		image: debian, program: "qemu-system-x86_64", in: "qemu-system-x86",
		machine: []string{"-M", "pc"}, serial: []string{"null", "stdio"},
		ready: []byte{byte(control.Ready)}, end: "reboot", aim: 1,
	}
	references = []reference{
		debianReference,
		{
			image: "debian/arm64", program: "qemu-system-aarch64", in: "qemu-system-arm",
			machine: []string{"-M", "virt", "-cpu", "cortex-a57"}, serial: []string{"stdio"}, kernel: "vmlinuz",
			ready: noChannel, end: "poweroff", aim: 1.2,
		},
		{
			image: "linux/riscv64", program: "qemu-system-riscv64", in: "qemu-system-misc",
			machine: []string{"-M", "virt"}, serial: []string{"stdio"}, kernel: "Image",
			ready: noChannel, end: "poweroff", aim: 1,
		},
	}
)

// missing says what to install.
func (r reference) missing() string {
	return fmt.Sprintf("%s is not installed here (apt-get install %s)", r.program, r.in)
}

// qemuArgs is the command line of an image under QEMU. The error wraps exec.ErrNotFound
// where there is no QEMU.
func (b *bench) qemuArgs(r reference) (path string, args []string, err error) {
	spec, err := images.Store{}.Open(r.image)
	if err != nil {
		return "", nil, err
	}
	return b.qemuArgsOf(r, spec, "init")
}

// qemuArgsOf is the command line of what an image has become; name is that of its initrd.
func (b *bench) qemuArgsOf(r reference, spec images.Spec, name string) (path string, args []string, err error) {
	if path, err = exec.LookPath(r.program); err != nil {
		return "", nil, err
	}
	root, err := spec.Initrd.Data()
	if err != nil {
		return "", nil, err
	}
	initrd := filepath.Join(b.dir, "initrd-"+spec.Arch+"-"+name)
	if err := os.WriteFile(initrd, root, 0o600); err != nil {
		return "", nil, err
	}
	kernel := spec.Kernel
	if r.kernel != "" {
		kernel = filepath.Join(filepath.Dir(kernel), r.kernel)
	}
	args = append([]string{
		"-accel", "tcg,thread=single", "-m", strconv.FormatUint(spec.Memory>>20, 10),
		"-nodefaults", "-display", "none", "-no-reboot",
		"-kernel", kernel, "-initrd", initrd, "-append", spec.Append,
	}, r.machine...)
	for _, port := range r.serial {
		args = append(args, "-serial", port)
	}
	return path, args, nil
}

// untilReady prepares a boot under QEMU, which is killed when init is ready. The error
// wraps exec.ErrNotFound without QEMU.
func (b *bench) untilReady(r reference) (command, error) {
	path, args, err := b.qemuArgs(r)
	if err != nil {
		return nil, err
	}
	return func() (usage, error) { return b.untilSaid(r.ready, path, args) }, nil
}

// untilSaid runs an emulator until it has written some text, and kills it.
func (b *bench) untilSaid(text []byte, path string, args []string) (usage, error) {
	ctx, cancel := context.WithTimeout(b.ctx, longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		return usage{}, err
	}
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	heard := listen(out, text)
	cmd.Process.Kill()
	cmd.Wait()
	if heard != nil {
		return usage{}, fmt.Errorf("%s: the guest's init did not say that it is ready: %w: %s", path, heard, lastLine(complaint.String()))
	}
	return usageOf(cmd), nil
}

// listen reads up to a text.
func listen(r io.Reader, text []byte) error {
	var said []byte
	for buf := make([]byte, 4096); ; {
		n, err := r.Read(buf)
		said = append(said, buf[:n]...)
		switch {
		case bytes.Contains(said, text):
			return nil
		case err != nil:
			return err
		}
		said = said[max(0, len(said)-len(text)):]
	}
}
