package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"

	"trapline/images"
	"trapline/images/control"
	"trapline/images/initramfs"
)

// A script is what a shell does in debian/amd64 under QEMU, where our init has its control
// channel. The first line that fails ends it.
type script struct {
	name   string
	text   string
	files  []initramfs.File // in the guest's root
	root   []byte           // cpio archive with more for it, nil for none
	memory uint64           // bytes of RAM, 0 for the image's
}

// prepare makes a script ready to be run many times. The usage has the spans that it says. Its
// standard output goes to w.
func (b *bench) prepare(s script, w io.Writer) (command, error) {
	spec, err := images.Store{}.Open(debian)
	if err != nil {
		return nil, err
	}
	own, err := spec.Initrd.Data()
	if err != nil {
		return nil, err
	}
	const aligned = 4 // an archive behind another
	whole := slices.Concat(own, make([]byte, -len(own)&(aligned-1)), s.root)
	files := append(s.files, initramfs.File{Path: "script", Contents: []byte("set -e\n" + s.text)})
	spec.Initrd = images.NewInitrd(whole).With(files)
	spec.Memory = cmp.Or(s.memory, spec.Memory)
	path, args, err := b.qemuArgsOf(debianReference, spec, s.name)
	if err != nil {
		return nil, err
	}
	return func() (usage, error) { return b.talk(path, args, "sh /script", w) }, nil
}

// talk runs an emulator whose standard input and output are the control channel until the
// guest's command has ended, and kills it.
func (b *bench) talk(path string, args []string, command string, w io.Writer) (usage, error) {
	ctx, cancel := context.WithTimeout(b.ctx, longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return usage{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return usage{}, err
	}
	l := listenTo(cmd)
	var said bytes.Buffer
	host, err := control.NewHost(command, io.MultiWriter(l, w), &said, func(p []byte) { in.Write(p) })
	if err != nil {
		return usage{}, err
	}
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	status, err := converse(host, bufio.NewReader(out))
	cmd.Process.Kill()
	cmd.Wait()
	if err == nil && status != 0 {
		err = fmt.Errorf("%q ended with status %d: %s", command, status, lastLine(said.String()))
	}
	if err != nil {
		return usage{}, fmt.Errorf("%s: %w", path, err)
	}
	u := usageOf(cmd)
	u.spans = l.ended
	return u, nil
}

// converse lets the host hear the guest until the command's status has come.
func converse(host *control.Host, guest io.ByteReader) (status int, err error) {
	for {
		if status, ok := host.Status(); ok {
			return status, nil
		}
		c, err := guest.ReadByte()
		if err != nil {
			return 0, fmt.Errorf("waiting for the guest: %w", err)
		}
		if err := host.Byte(c); err != nil {
			return 0, err
		}
	}
}
