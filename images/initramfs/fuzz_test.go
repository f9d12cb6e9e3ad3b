package initramfs

import (
	"bytes"
	"path"
	"strings"
	"testing"
)

// headers are all that is needed of a static program: the file's and its segments'.
func headers(f *testing.F) []byte {
	program := bytes.Clone(initProgram(f)[:64+3*56])
	clear(program[40:48]) // it has no sections
	clear(program[60:64])
	return program
}

// FuzzBuild: whatever the second program is, there is an error of one line, or an archive with both.
func FuzzBuild(f *testing.F) {
	init := headers(f)
	f.Add([]byte(nil), 0, byte(0))
	f.Add(init, -1, byte(0))
	f.Add(init, 16, byte(1))   // the type
	f.Add(init, 18, byte(2))   // the machine
	f.Add(init, 39, byte(255)) // where the headers of segments are
	f.Add(init, 54, byte(255)) // how large they are
	f.Add(init, 56, byte(255)) // and how many
	f.Add(init, 64, byte(2))   // a segment names an interpreter
	f.Fuzz(func(t *testing.T, busybox []byte, at int, flip byte) {
		if at >= 0 && at < len(busybox) {
			busybox = bytes.Clone(busybox)
			busybox[at] ^= flip
		}
		archive, err := Builder{Init: init, Busybox: busybox}.Build()
		if err != nil {
			if strings.Contains(err.Error(), "\n") || archive != nil {
				t.Errorf("%d bytes, error %v", len(archive), err)
			}
			return
		}
		for _, e := range parse(t, archive) {
			want, ok := map[string][]byte{"init": init, "bin/busybox": busybox}[e.name]
			if ok && !bytes.Equal(e.data, want) {
				t.Errorf("%s has %d bytes, want %d", e.name, len(e.data), len(want))
			}
		}
	})
}

// FuzzAppend: behind an archive, whatever it is, stands one with the files, where a kernel looks for it.
func FuzzAppend(f *testing.F) {
	f.Add([]byte(nil), "x.d", []byte("BEGIN"))
	f.Add([]byte("\x1f\x8b\x08"), "lib/modules/a.ko", []byte("\x7fELF"))
	f.Add([]byte("070701"), "TRAILER", []byte("070701"))
	f.Fuzz(func(t *testing.T, archive []byte, name string, contents []byte) {
		if name = path.Clean("/" + name)[1:]; name == "" || strings.Contains(name, "\x00") || name == "TRAILER!!!" {
			return // no name of a file
		}
		out, err := Append(archive, []File{{name, contents}, {"last", nil}})
		if err != nil {
			t.Fatal(err)
		}
		at := (len(archive) + 3) &^ 3
		if !bytes.HasPrefix(out, archive) || len(bytes.Trim(out[len(archive):at], "\x00")) > 0 {
			t.Fatal("the archive is not what it was")
		}
		files := parse(t, out[at:])
		if len(files) != 2 || files[0].name != name || !bytes.Equal(files[0].data, contents) || files[1].name != "last" {
			t.Errorf("%q: there are %q", name, files)
		}
	})
}
