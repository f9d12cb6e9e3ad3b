package images

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ulikunitz/xz"
)

// An entry is a file of a set.
type entry struct {
	name string
	kind byte
	text string // content, or where a link goes
	mode int64
}

// The sets of a release, as small as they may be.
var (
	kernelSet = []entry{
		{"./boot/kernel/kernel", tar.TypeReg, "\x7fELF...@(#)FreeBSD 15.0-RELEASE-p1 GENERIC amd64", 0o555},
		{"./boot/kernel/dtrace.ko", tar.TypeReg, "\x7fELF module", 0o555},
	}
	debugSet = []entry{{"./usr/lib/debug/boot/kernel/kernel.debug", tar.TypeReg, "\x7fELF debug", 0o555}}
	baseSet  = []entry{
		{"./", tar.TypeDir, "", 0o755},
		{"./sbin/init", tar.TypeReg, "\x7fELF init", 0o555},
		{"./bin/sh", tar.TypeReg, "\x7fELF sh", 0o555},
		{"./bin/a b", tar.TypeLink, "bin/sh", 0o555},
		{"./bin/dash", tar.TypeSymlink, "sh", 0o755},
		{"./usr/bin/passwd", tar.TypeReg, "setuid", 0o4555},
		{"./usr/share/man/man1/sh.1.gz", tar.TypeReg, "a manual", 0o444},
		{"./tmp", tar.TypeDir, "", 0o1777},
	}
)

func pack(t *testing.T, entries []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := xz.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: e.mode, Uname: "somebody", Uid: 7}
		if e.kind == tar.TypeReg {
			h.Size = int64(len(e.text))
		} else {
			h.Linkname = e.text
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if e.kind == tar.TypeReg {
			w.Write([]byte(e.text))
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// release is a directory with sets and their MANIFEST.
func release(t *testing.T, base, kernel, debug []entry) string {
	t.Helper()
	dir := t.TempDir()
	var manifest strings.Builder
	for name, entries := range map[string][]entry{setBase: base, setKernel: kernel, setDebug: debug} {
		data := pack(t, entries)
		put(t, dir, name+".txz", data)
		fmt.Fprintf(&manifest, "%s.txz\t%x\t%d\t%s\t\"%s\"\ton\n", name, sha256.Sum256(data), len(entries), name, name)
	}
	put(t, dir, setManifest, []byte(manifest.String()))
	return dir
}

func put(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFreeBSDGet(t *testing.T) {
	var first []byte
	for range 2 {
		s := Store{Dir: t.TempDir(), From: release(t, baseSet, kernelSet, debugSet)}
		if err := s.Get(t.Context(), "freebsd/amd64", NoProgress{}); err != nil {
			t.Fatal(err)
		}
		spec, err := s.Open("freebsd/amd64")
		if err != nil {
			t.Fatal(err)
		}
		if spec.State != Fetched || spec.Version != "15.0-RELEASE-p1" {
			t.Errorf("%s %s", spec.State, spec.Version)
		}
		root, err := spec.Initrd.Data()
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]bool{"setuid": true, "ELF sh": true, "a manual": false, "ELF module": true} {
			if bytes.Contains(root, []byte(text)) != want {
				t.Errorf("the root has %q: %v, want %v", text, !want, want)
			}
		}
		if first == nil {
			first = root
		} else if !bytes.Equal(first, root) {
			t.Error("two roots of equal sets differ")
		}
		s.From = "" // it is there: no set is needed
		if err := s.Get(t.Context(), "freebsd/amd64", NoProgress{}); err != nil {
			t.Error(err)
		}
	}
}

// The machines of a device tree have the root on a disk.
func TestFreeBSDDisk(t *testing.T) {
	s := Store{Dir: t.TempDir(), From: release(t, baseSet, kernelSet, debugSet)}
	if err := s.Get(t.Context(), "freebsd/riscv64", NoProgress{}); err != nil {
		t.Fatal(err)
	}
	spec, err := s.RootOf("freebsd", "riscv64")
	if err != nil || spec.Initrd.ID() != "" {
		t.Fatalf("initrd %q, error %v", spec.Initrd.ID(), err)
	}
	if info, err := os.Stat(spec.Disk); err != nil || info.Size()%512 != 0 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestFreeBSDErrors(t *testing.T) {
	noInit := append([]entry{}, baseSet[2:]...)
	for _, tt := range []struct {
		name   string
		change func(dir string)
		base   []entry
		want   string
	}{
		{"no manifest", func(dir string) { os.Remove(filepath.Join(dir, setManifest)) }, baseSet, "MANIFEST: no such file or directory"},
		{"not a manifest", func(dir string) { put(t, dir, setManifest, []byte("<html>")) }, baseSet, `is not the MANIFEST of a release: "<html>" is not a line`},
		{"not listed", func(dir string) { put(t, dir, setManifest, nil) }, baseSet, "MANIFEST does not list base.txz"},
		{"no set", func(dir string) { os.Remove(filepath.Join(dir, "kernel.txz")) }, baseSet, "kernel.txz: no such file or directory"},
		{"truncated", func(dir string) { os.Truncate(filepath.Join(dir, "base.txz"), 40) }, baseSet, "base.txz is damaged or of another release: its SHA-256 begins with"},
		{"no init", func(string) {}, noInit, "base.txz has no sbin/init: it is not the base system"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Store{Dir: t.TempDir(), From: release(t, tt.base, kernelSet, debugSet)}
			tt.change(s.From)
			err := s.Get(t.Context(), "freebsd/amd64", NoProgress{})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %v, want %s", err, tt.want)
			}
			left, _ := os.ReadDir(filepath.Join(s.Dir, "images"))
			if len(left) != 1 { // the lock
				t.Errorf("left behind: %v", left)
			}
		})
	}
	err := Store{Dir: t.TempDir()}.Get(t.Context(), "freebsd/amd64", NoProgress{})
	if err == nil || !strings.Contains(err.Error(), "--from DIR") {
		t.Errorf("without a directory: %v", err)
	}
}

// Names and links of a set do not lead out of the directory in which it is unpacked.
func TestFreeBSDEscape(t *testing.T) {
	outside := t.TempDir()
	put(t, outside, "victim", []byte("whole"))
	for _, hostile := range [][]entry{
		{{"../../../../" + outside + "/victim", tar.TypeReg, "x", 0o644}},
		{{"out", tar.TypeSymlink, outside, 0o755}, {"out/victim", tar.TypeReg, "x", 0o644}},
		{{"out", tar.TypeSymlink, outside, 0o755}, {"in", tar.TypeLink, "out/victim", 0o644}, {"in", tar.TypeReg, "x", 0o644}},
		{{"fifo", tar.TypeFifo, "", 0o644}, {"device", tar.TypeBlock, "", 0o644}},
	} {
		s := Store{Dir: t.TempDir(), From: release(t, append(hostile, baseSet...), kernelSet, debugSet)}
		err := s.Get(t.Context(), "freebsd/amd64", NoProgress{}) // it may fail, or not
		text, _ := os.ReadFile(filepath.Join(outside, "victim"))
		if string(text) != "whole" {
			t.Fatalf("%v: error %v, the file outside has %q", hostile, err, text)
		}
	}
}

func TestFreeBSDDiskFull(t *testing.T) {
	s := Store{Dir: t.TempDir(), From: release(t, baseSet, kernelSet, debugSet)}
	s.create = func(path string) (io.WriteCloser, error) { return nil, syscall.ENOSPC }
	err := s.Get(t.Context(), "freebsd/amd64", NoProgress{})
	if err == nil || !strings.Contains(err.Error(), "no space left in the cache") {
		t.Errorf("error %v", err)
	}
}
