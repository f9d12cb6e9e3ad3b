package vm

import "bytes"

// json finds an element of a JSON text by a path like a.b[3].c. A string loses its quotes;
// all else is given as it is written, escapes too. The path of an element of an array is [n] or n. Where it
// leads nowhere, or the text is none up to there, the result is "".
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
			if len(text) > 0 && text[0] == '[' && jsonIndex(name, &index) {
				return 0, true
			}
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
		switch {
		case n == 0:
			return nil
		case found:
			return text
		}
		if text = jsonSpace(text[n:]); len(text) == 0 || text[0] != ',' {
			return nil
		}
	}
}

// jsonSkip is the length of the value that text begins with, 0 if it is none. Where the text ends with a
// number or a word that has no delimiter behind it, it has been cut, and is none.
func jsonSkip(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	switch text[0] {
	case '"':
		return jsonString(text)
	case '{', '[':
		return jsonNest(text)
	}
	n := bytes.IndexAny(text, ",]} \t\n\r")
	if n < 0 || !jsonWord(text[:n]) {
		return 0
	}
	return n
}

// jsonNest is the length of the object or array that text begins with, of which the elements are not
// looked at.
func jsonNest(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			n := jsonString(text[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// jsonString is the length of the string that text begins with, its quotes included; 0 if an escape in it
// is none of JSON.
func jsonString(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			n := jsonEscape(text[i+1:])
			if n == 0 {
				return 0
			}
			i += n
		}
	}
	return 0
}

// jsonEscape returns the length of the escape whose backslash stands before s, 0 if it is not one.
func jsonEscape(s []byte) int {
	switch {
	case len(s) == 0 || bytes.IndexByte([]byte(`"\/bfnrtu`), s[0]) < 0:
		return 0
	case s[0] != 'u':
		return 1
	case len(s) < 5:
		return 0
	}
	for _, c := range s[1:5] {
		if digit(c) > 15 {
			return 0
		}
	}
	return 5
}

// jsonWord reports whether s is a number or one of the words of JSON.
func jsonWord(s []byte) bool {
	switch {
	case len(s) == 0:
		return false
	case s[0] == '-' || s[0] >= '0' && s[0] <= '9':
		return len(bytes.Trim(s, "0123456789+-.eE")) == 0
	}
	return string(s) == "true" || string(s) == "false" || string(s) == "null"
}

func jsonSpace(s []byte) []byte { return bytes.TrimLeft(s, " \t\r\n") }

// jsonValue is the value that text begins with.
func (f *frame) jsonValue(text []byte) (ref uint64, ok bool) {
	text = text[:jsonSkip(text)]
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	return f.keepCut(text)
}
