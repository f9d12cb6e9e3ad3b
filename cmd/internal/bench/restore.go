package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
)

// restoring compares what it takes to go on from where a guest's init waits: a trace that ends
// there at once, for which the kernel's symbols are read, too; and QEMU that loads a snapshot, and
// ends.
func restoring(b *bench) ([]row, error) {
	load, err := b.loadVM(debianReference)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("%s, or there is no qemu-img (apt-get install qemu-utils)", debianReference.missing())
	}
	if err != nil {
		return nil, err
	}
	us, err := rounds(b.count(11), b.quiet("dtrace", "-q", "-k", debian, "-c", "true", "-n", "BEGIN { exit(0); }"), load)
	if err != nil {
		return nil, err
	}
	ours, theirs := cpuOf(us[0]), cpuOf(us[1])
	return []row{{Name: debian, A: ours, B: theirs, Unit: "s", Result: pairwise(ours, theirs, ratio)}}, nil
}

// loadVM makes a snapshot of a guest in QEMU, and prepares that it is loaded. Its time does not
// count: the first round of ours makes one, too.
func (b *bench) loadVM(r reference) (command, error) {
	path, args, err := b.qemuArgs(r)
	if err != nil {
		return nil, err
	}
	disk, monitor := filepath.Join(b.dir, "ready.qcow2"), filepath.Join(b.dir, "monitor")
	if err := exec.CommandContext(b.ctx, "qemu-img", "create", "-q", "-f", "qcow2", disk, "1G").Run(); err != nil {
		return nil, fmt.Errorf("making a file for snapshots: %w", err)
	}
	args = append(args, "-drive", "if=none,format=qcow2,file="+disk)
	save := append([]string{"-monitor", "unix:" + monitor + ",server=on,wait=off"}, args...)
	if err := b.saveVM(r.ready, monitor, path, save); err != nil {
		return nil, fmt.Errorf("making a snapshot in QEMU: %w", err)
	}
	for i := range args {
		args[i] = strings.Replace(args[i], "stdio", "null", 1)
	}
	args = append(args, "-monitor", "stdio", "-loadvm", "ready")
	return func() (usage, error) { return b.toEnd("quit\n", io.Discard, path, args) }, nil
}

// saveVM runs QEMU until its guest is ready, and has its monitor save that.
func (b *bench) saveVM(ready []byte, monitor, path string, args []string) error {
	ctx, cancel := context.WithTimeout(b.ctx, longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer cmd.Wait()
	defer cancel()
	if err := listen(out, ready); err != nil {
		return err
	}
	c, err := net.Dial("unix", monitor)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Write([]byte("stop\nsavevm ready\ninfo snapshots\n")); err != nil {
		return err
	}
	return listen(c, []byte("VM CLOCK"))
}
