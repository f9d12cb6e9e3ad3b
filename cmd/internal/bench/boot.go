package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"trapline/images"
	"trapline/images/control"
)

const debian = "debian/amd64"

// statusLimit is trapline's exit status when --until ends the run.
const statusLimit = 124

// qemuProgram is the other emulator.
const qemuProgram = "qemu-system-x86_64"

// bootToInit compares two emulators over the same kernel file, initrd and command line,
// from the start of the process to the frame with which our init says that it is ready.
// trapline is stopped there by its clock, which is the same in every run; QEMU is killed
// when the frame's first byte comes out.
func bootToInit(b *bench) ([]row, error) {
	ready, err := b.readyAt()
	if err != nil {
		return nil, err
	}
	until := []string{"boot", "-q", "--until", strconv.FormatFloat(float64(ready)/1e9, 'f', 9, 64), debian}
	ours := func() (usage, error) { return b.run(nil, io.Discard, []int{statusLimit}, until...) }
	theirs, err := b.qemu()
	if errors.Is(err, exec.ErrNotFound) {
		us, err := rounds(b.count(5), ours)
		if err != nil {
			return nil, err
		}
		note := qemuProgram + " is not installed here (apt-get install qemu-system-x86): nothing to compare with"
		return []row{{Name: "CPU time", A: cpuOf(us[0]), Unit: "s", Note: note}}, nil
	}
	if err != nil {
		return nil, err
	}
	us, err := rounds(b.count(5), ours, theirs)
	if err != nil {
		return nil, err
	}
	cpu := [2]series{cpuOf(us[0]), cpuOf(us[1])}
	rss := [2]series{rssOf(us[0]), rssOf(us[1])}
	return []row{
		{Name: "CPU time", A: cpu[0], B: cpu[1], Unit: "s", Result: pairwise(cpu[0], cpu[1], ratio), Aim: atMost(1)},
		{Name: "peak memory", A: rss[0], B: rss[1], Unit: "MB", Result: pairwise(rss[0], rss[1], ratio)},
	}, nil
}

// readyAt is the virtual time, in nanoseconds, at which debian's init is ready.
func (b *bench) readyAt() (uint64, error) {
	out, err := b.output("dtrace", "-q", "-k", debian, "-c", "true", "-n", `BEGIN { printf("%d", timestamp); exit(0); }`)
	if err != nil {
		return 0, err
	}
	at, err := strconv.ParseUint(strings.TrimSpace(out), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("finding the end of the boot: %w", err)
	}
	return at, nil
}

// qemu prepares a boot of debian under QEMU. The error wraps exec.ErrNotFound without it.
func (b *bench) qemu() (command, error) {
	path, args, err := b.qemuArgs()
	if err != nil {
		return nil, err
	}
	return func() (usage, error) { return b.untilReady(path, args) }, nil
}

// qemuArgs is the command line of debian under QEMU, with the control channel on standard
// input and output. The error wraps exec.ErrNotFound where there is no QEMU.
func (b *bench) qemuArgs() (path string, args []string, err error) {
	if path, err = exec.LookPath(qemuProgram); err != nil {
		return "", nil, err
	}
	spec, err := images.Store{}.Open(debian)
	if err != nil {
		return "", nil, err
	}
	initrd := filepath.Join(b.dir, "initrd")
	if err := os.WriteFile(initrd, spec.Initrd, 0o600); err != nil {
		return "", nil, err
	}
	return path, []string{
		"-M", "pc", "-accel", "tcg", "-m", strconv.FormatUint(spec.Memory>>20, 10),
		"-nodefaults", "-display", "none", "-no-reboot",
		"-kernel", spec.Kernel, "-initrd", initrd, "-append", spec.Append,
		"-serial", "null", "-serial", "stdio", // the console, the control channel
	}, nil
}

// untilReady runs an emulator until the first byte of the control channel, and kills it.
func (b *bench) untilReady(path string, args []string) (usage, error) {
	ctx, cancel := context.WithTimeout(b.ctx, longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return usage{}, err
	}
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	var first [1]byte
	_, heard := io.ReadFull(out, first[:])
	cmd.Process.Kill()
	cmd.Wait()
	if heard != nil || control.Type(first[0]) != control.Ready {
		return usage{}, fmt.Errorf("%s: the guest's init did not say that it is ready: %s", path, lastLine(said.String()))
	}
	return usageOf(cmd), nil
}
