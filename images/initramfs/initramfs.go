// Package initramfs builds the first root file system of a Linux guest: a cpio
// archive that the kernel unpacks into memory.
//
//	/init                     images/init: talks to the host on the control channel
//	/bin/busybox              one static program ...
//	/bin/ls, /sbin/ip, ...    ... and a symbolic link to it for each command
//	/dev/console, /dev/null   what is needed before init mounts devtmpfs
//	/etc/passwd, /etc/group   root, nobody
//	/proc /sys /tmp /root ... empty directories
//
// The links are in the archive because unpacking them costs the guest less than
// running `busybox --install` in each boot. The archive is not compressed: it is
// made in memory for each run and the guest would pay for unpacking.
//
// The same input gives the same bytes: times are zero, inode numbers count up,
// the order is fixed.
package initramfs

import (
	"bytes"
	"debug/elf"
	"fmt"

	"github.com/u-root/u-root/pkg/cpio"
)

// A Builder holds what goes into an archive.
type Builder struct {
	Init    []byte // static ELF program, becomes /init
	Busybox []byte // static ELF program, becomes /bin/busybox
}

var directories = []string{
	"bin", "dev", "etc", "mnt", "proc", "root", "run", "sbin", "sys", "tmp",
	"usr", "usr/bin", "usr/sbin", "var",
}

var textFiles = []struct{ path, text string }{
	{"etc/group", "root:x:0:\nnogroup:x:65534:\n"},
	{"etc/passwd", "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"},
}

// Build returns the archive in the "newc" format (Linux,
// Documentation/driver-api/early-userspace/buffer-format.rst). It fails if a
// program is not a static ELF executable, or if both are not of one architecture.
func (b Builder) Build() ([]byte, error) {
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("building an initramfs: %w", err)
	}
	records := b.records()
	for i := range records {
		records[i].Ino = uint64(i) + 1
	}
	var buf bytes.Buffer
	buf.Grow(len(b.Init) + len(b.Busybox) + 256*len(records))
	w := cpio.Newc.Writer(&buf)
	if err := cpio.WriteRecords(w, records); err != nil {
		return nil, fmt.Errorf("building an initramfs: %w", err)
	}
	if err := cpio.WriteTrailer(w); err != nil {
		return nil, fmt.Errorf("building an initramfs: %w", err)
	}
	return buf.Bytes(), nil
}

// records returns what the archive holds; a directory comes before what is in it.
func (b Builder) records() []cpio.Record {
	var rs []cpio.Record
	for _, d := range directories {
		rs = append(rs, cpio.Directory(d, 0o755))
	}
	rs = append(rs,
		cpio.CharDev("dev/console", 0o600, 5, 1),
		cpio.CharDev("dev/null", 0o666, 1, 3),
	)
	for _, f := range textFiles {
		rs = append(rs, cpio.StaticFile(f.path, f.text, 0o644))
	}
	rs = append(rs,
		program("init", b.Init),
		program("bin/busybox", b.Busybox),
	)
	for _, name := range applets() {
		rs = append(rs, cpio.Symlink(name, "/bin/busybox"))
	}
	return rs
}

func program(path string, contents []byte) cpio.Record {
	return cpio.StaticRecord(contents, cpio.Info{Name: path, Mode: cpio.S_IFREG | 0o755})
}

func (b Builder) check() error {
	initArch, err := static("init", b.Init)
	if err != nil {
		return err
	}
	busyboxArch, err := static("busybox", b.Busybox)
	if err != nil {
		return err
	}
	if initArch != busyboxArch {
		return fmt.Errorf("init is for %v, busybox for %v", initArch, busyboxArch)
	}
	return nil
}

// static returns the architecture of a program that needs no other file to run.
func static(name string, program []byte) (elf.Machine, error) {
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return 0, fmt.Errorf("%s is not an ELF file: %w", name, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return 0, fmt.Errorf("%s is not a static program", name)
		}
	}
	return f.Machine, nil
}
