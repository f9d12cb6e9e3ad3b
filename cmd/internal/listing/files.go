package listing

import (
	"io/fs"
	"strings"

	"trapline/kernel/source"
)

// Files are source files, of which lines are shown.
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
		text, _ := fs.ReadFile(f.FS, at.File) // a file that is not there has no lines
		lines = strings.Split(string(text), "\n")
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
