package listing

import (
	"io/fs"
	"path"
	"strings"

	"trapline/kernel/source"
)

// Files are source files whose lines are shown.
type Files struct {
	FS    fs.FS
	lines map[string][]string
}

// Text is a line of source without the blanks around it, "" if it is not to be had.
func (f *Files) Text(at source.Line) string {
	if f == nil || f.FS == nil || at.Line == 0 {
		return ""
	}
	lines, known := f.lines[at.File]
	if !known {
		lines = strings.Split(f.read(at.File), "\n")
		if f.lines == nil {
			f.lines = map[string][]string{}
		}
		f.lines[at.File] = lines
	}
	if at.Line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[at.Line-1])
}

// read is the text of a file, "" if it is not there. An absolute name, which a kernel has that was built
// elsewhere than in its source, may be below the directory as a whole or from any of its folders on.
func (f *Files) read(name string) string {
	absolute := path.IsAbs(name)
	for name = strings.TrimPrefix(name, "/"); ; {
		if text, err := fs.ReadFile(f.FS, path.Clean(name)); err == nil {
			return string(text)
		}
		_, rest, more := strings.Cut(name, "/")
		if !absolute || !more || !strings.Contains(rest, "/") {
			return ""
		}
		name = rest
	}
}
