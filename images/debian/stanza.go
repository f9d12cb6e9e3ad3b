package debian

import (
	"bytes"
	"strings"
)

// Fields are those of one stanza of a control file (deb822(5)), by name. The lines of a value
// that has several are separated by "\n", without the blanks that they begin with.
type Fields map[string]string

// parseFields reads one stanza. Lines that are no fields are left out.
func parseFields(text string) Fields {
	fields := Fields{}
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch name, value, ok := strings.Cut(line, ":"); {
		case line == "" || line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			if last != "" {
				fields[last] += "\n" + strings.TrimLeft(line, " \t")
			}
		case !ok || name == "":
			last = ""
		default:
			last = name
			fields[name] = strings.TrimLeft(value, " \t")
		}
	}
	return fields
}

// eachStanza calls f with the text of every stanza of a file.
func eachStanza(text []byte, f func(stanza []byte)) {
	for len(text) > 0 {
		var stanza []byte
		stanza, text, _ = bytes.Cut(text, []byte("\n\n"))
		if stanza = bytes.Trim(stanza, "\n"); len(stanza) > 0 {
			f(stanza)
		}
	}
}
