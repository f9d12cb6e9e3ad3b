package debuginfo

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"trapline/kernel/ctypes"
	"trapline/owned"
)

// A nameIndex holds the types of the variables of an image: lines of a name, a blank and
// the type in letters, sorted:
//
//	p   pointer to     aN: array of N, aN of an unknown length a-1:     f function that returns
//	s:  struct tag     u: union tag     e: enum tag     t: typedef     i: integer     v void
//
// So init_task is "s:task_struct". A variable of a type without a name is left out.
type nameIndex struct {
	lines []byte // begins and ends with a newline
}

// indexVersion changes with the format.
const indexVersion = "v1"

// Variable finds the type of a variable of the kernel.
func (t *Types) Variable(name string) (*ctypes.Type, bool) {
	return t.find(ctypes.Void, name, func() (*ctypes.Type, bool) {
		if t.compact == nil {
			return t.dwarf.variable(name)
		}
		if has, ok := t.compact.(interface {
			variable(name string) (*ctypes.Type, bool)
		}); ok {
			return has.variable(name)
		}
		if t.vars == nil {
			d := newDWARF(t.img, t)
			t.vars = t.readIndex(".vars", d, d.index)
		}
		code, ok := t.vars.find(name)
		if !ok {
			return nil, false
		}
		return t.decode(code, 0)
	})
}

// variable finds a variable in an image without an index. Its definition is preferred to
// declarations.
func (d *dwarf) variable(name string) (typ *ctypes.Type, ok bool) {
	d.top(func(u *unit, e *die) bool {
		if e.tag != tagVariable {
			return true
		}
		n, t := d.nameAndType(u, e)
		if string(n) == name && (typ == nil || e.located) {
			typ = d.types.typ(t)
		}
		return typ == nil || !e.located
	})
	return typ, typ != nil
}

// nameAndType are those of a variable: a definition may leave them to its declaration.
func (d *dwarf) nameAndType(u *unit, e *die) (name []byte, typ uint64) {
	name, typ = e.name, e.typ
	if e.spec != 0 && e.spec >= u.first && e.spec < u.end {
		var decl die
		if d.read(u, e.spec, &decl) {
			if name == nil {
				name = decl.name
			}
			if typ == 0 {
				typ = decl.typ
			}
		}
	}
	return name, typ
}

func (x *nameIndex) find(name string) (code string, ok bool) {
	key := []byte("\n" + name + " ")
	at := bytes.Index(x.lines, key)
	if at < 0 {
		return "", false
	}
	line := x.lines[at+len(key):]
	return string(line[:bytes.IndexByte(line, '\n')]), true
}

// readIndex takes an index from the cache, or makes it and leaves it there.
func (t *Types) readIndex(suffix string, d *dwarf, make func() *nameIndex) *nameIndex {
	path := t.indexPath(suffix)
	if data, err := owned.ReadFile(path); path != "" && err == nil && len(data) > 0 && data[0] == '\n' && data[len(data)-1] == '\n' {
		return &nameIndex{data}
	}
	x := make()
	if err := d.budget.err(); err != nil {
		t.fail(err)
		return x
	}
	if path != "" && len(x.lines) > len("\n\n") { // a stripped file has the number of the full one
		if err := owned.WriteFile(path, x.lines); err != nil && !errors.Is(err, owned.ErrForeign) && t.err == nil {
			t.err = fmt.Errorf("keeping an index of the debug information: %w", err)
		}
	}
	return x
}

// indexPath is "" for an image without an identity.
func (t *Types) indexPath(suffix string) string {
	if t.cache == "" || t.img.BuildID() == "" {
		return ""
	}
	return filepath.Join(t.cache, "types", t.img.BuildID()+"-"+indexVersion+suffix)
}

// index makes the index of all variables. Of several of one name one that is located
// counts more than a declaration, and one that the linker sees more than a static one.
func (d *dwarf) index() *nameIndex {
	type found struct {
		rank int
		code string
	}
	all := make(map[string]found)
	d.top(func(u *unit, e *die) bool {
		if e.tag != tagVariable {
			return true
		}
		rank := 1
		if e.located {
			rank = 2
			if e.external || e.spec != 0 {
				rank = 3
			}
		}
		name, typ := d.nameAndType(u, e)
		if name == nil || all[string(name)].rank >= rank {
			return true
		}
		if code, ok := encode(d.types.typ(typ), 0); ok && d.budget.spend(nameCost+2*(len(name)+len(code))) {
			all[string(name)] = found{rank, code}
		}
		return true
	})
	lines := make([]string, 0, len(all))
	for name, f := range all {
		lines = append(lines, name+" "+f.code)
	}
	slices.Sort(lines)
	return &nameIndex{[]byte("\n" + strings.Join(lines, "\n") + "\n")}
}

var letters = map[ctypes.Kind]string{ctypes.Struct: "s:", ctypes.Union: "u:", ctypes.Enum: "e:", ctypes.Typedef: "t:", ctypes.Int: "i:"}

// encode is a type in letters.
func encode(t *ctypes.Type, depth int) (string, bool) {
	prefix := ""
	switch t.Kind {
	case ctypes.Void:
		return "v", true
	case ctypes.Pointer:
		prefix = "p"
	case ctypes.Array:
		prefix = "a" + strconv.Itoa(t.Len) + ":"
	case ctypes.Func:
		prefix = "f"
	default:
		return letters[t.Kind] + t.Name, t.Name != ""
	}
	if depth > maxDepth {
		return "", false
	}
	code, ok := encode(t.Elem, depth+1)
	return prefix + code, ok
}

// decode is the type of letters.
func (t *Types) decode(code string, depth int) (*ctypes.Type, bool) {
	if code == "" || depth > maxDepth {
		return nil, false
	}
	letter, rest := code[0], code[1:]
	name := strings.TrimPrefix(rest, ":")
	switch letter {
	case 'v':
		return ctypes.VoidType, true
	case 's':
		return t.forward(ctypes.Struct, 0, name, false), true
	case 'u':
		return t.forward(ctypes.Union, 0, name, false), true
	case 'e':
		return t.forward(ctypes.Enum, 0, name, false), true
	case 't':
		return t.Typedef(name)
	case 'i':
		return decodeInt(name)
	case 'a':
		n, rest, _ := strings.Cut(rest, ":")
		length, err := strconv.Atoi(n)
		elem, ok := t.decode(rest, depth+1)
		if err != nil || !ok {
			return nil, false
		}
		return array(elem, length), true
	}
	elem, ok := t.decode(rest, depth+1)
	switch {
	case !ok:
		return nil, false
	case letter == 'f':
		return ctypes.FuncOf(elem, nil, false), true
	}
	return ctypes.PointerTo(elem), letter == 'p'
}

func decodeInt(name string) (*ctypes.Type, bool) {
	if name == "_Bool" {
		return &ctypes.Type{Kind: ctypes.Int, Name: name, Size: 1}, true
	}
	return ctypes.Arithmetic(strings.Fields(name))
}
