package vm

import "bytes"

// json finds an element of a JSON text by a path like a.b[3].c. A string loses its quotes,
// and its escapes but \uNNNN become what they stand for; anything else is given as it is
// written. Where the path leads nowhere, or the text is none, it is "".
func (f *frame) json(text, path []byte) (ref uint64, ok bool) {
	for {
		text = jsonSpace(text)
		var name []byte
		index := -1
		switch {
		case len(path) == 0:
			return f.jsonValue(text)
		case path[0] == '[':
			n := bytes.IndexByte(path, ']')
			if n < 0 || jsonIndex(path[1:n], &index) {
				return 0, true
			}
			path = bytes.TrimPrefix(path[n+1:], []byte("."))
		default:
			n := bytes.IndexAny(path, ".[")
			if n < 0 {
				n = len(path)
			}
			name, path = path[:n], path[n:]
			if len(path) > 1 && path[0] == '.' {
				path = path[1:]
			}
		}
		if text = jsonElement(text, name, index); text == nil {
			return 0, true
		}
	}
}

// jsonIndex reads the digits of an index and reports whether they are bad.
func jsonIndex(s []byte, index *int) (bad bool) {
	*index = 0
	for _, c := range s {
		if c < '0' || c > '9' || *index > 1<<20 {
			return true
		}
		*index = *index*10 + int(c-'0')
	}
	return len(s) == 0
}

// jsonElement is the text from an element of the object or array on that text begins with.
func jsonElement(text, name []byte, index int) []byte {
	if len(text) == 0 || index < 0 && text[0] != '{' || index >= 0 && text[0] != '[' {
		return nil
	}
	for i := 0; ; i++ {
		text = jsonSpace(text[1:])
		found := i == index
		if index < 0 {
			n := jsonSkip(text)
			if n < 2 || text[0] != '"' {
				return nil
			}
			found = bytes.Equal(text[1:n-1], name)
			if text = jsonSpace(text[n:]); len(text) == 0 || text[0] != ':' {
				return nil
			}
			text = jsonSpace(text[1:])
		}
		n := jsonSkip(text)
		if n == 0 || found {
			return text[:n]
		}
		if text = jsonSpace(text[n:]); len(text) == 0 || text[0] != ',' {
			return nil
		}
	}
}

// jsonSkip is the length of the value that text begins with, 0 if it is none.
func jsonSkip(text []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			if quoted = !quoted; !quoted && depth == 0 {
				return i + 1
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth < 0 {
				return i
			}
			if depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ':'):
			return i
		}
	}
	if depth > 0 || quoted {
		return 0
	}
	return len(text)
}

func jsonSpace(s []byte) []byte { return bytes.TrimLeft(s, " \t\r\n") }

// jsonValue is the value that text begins with.
func (f *frame) jsonValue(text []byte) (ref uint64, ok bool) {
	text = text[:jsonSkip(text)]
	if len(text) < 2 || text[0] != '"' {
		return f.keepCut(text)
	}
	ref, ok = f.keepCut(text[1 : len(text)-1])
	if !ok {
		return 0, false
	}
	s := f.bytes(ref)
	n := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) && s[i+1] != 'u' {
			i++
			c = s[i]
			if at := bytes.IndexByte([]byte("bfnrt"), c); at >= 0 {
				c = "\b\f\n\r\t"[at]
			}
		}
		s[n] = c
		n++
	}
	f.mem = f.mem[:len(f.mem)-len(s)+n]
	return f.last(n), true
}
