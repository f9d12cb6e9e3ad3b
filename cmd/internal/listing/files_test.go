package listing

import (
	"testing"
	"testing/fstest"

	"trapline/kernel/source"
)

// Names of source files may be absolute, of the machine that a kernel was built on; the directory may be
// any part of where they were.
func TestFiles(t *testing.T) {
	files := &Files{FS: fstest.MapFS{
		"fs/read_write.c": {Data: []byte("one\n  two\n")},
		"main.c":          {Data: []byte("another\n")},
	}}
	for name, want := range map[string]string{
		"fs/read_write.c": "two", "./fs/read_write.c": "two", "/build/linux/fs/read_write.c": "two", "/fs/read_write.c": "two",
		"linux/fs/read_write.c": "", // of this directory, or not at all
		"/build/init/main.c":    "", // there are many of that name
		"nosuch.c":              "", "/nosuch.c": "", "": "", "/": "",
	} {
		if got := files.Text(source.Line{File: name, Line: 2}); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := files.Text(source.Line{File: "fs/read_write.c", Line: 9}); got != "" {
		t.Errorf("behind the end: %q", got)
	}
}
