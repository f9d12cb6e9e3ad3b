package debuginfo

import (
	"path"
	"strings"
)

// fileNames are the source files of one unit, by number, as the header of its line
// program has them (DWARF 5, 6.2.4). A path is made when it is asked for.
type fileNames struct {
	dirs  [][]byte
	files []fileName
	paths []string
	pool  map[string]string // paths of all units, to keep one of each

	budget *budget
}

type fileName struct {
	name []byte
	dir  uint64
}

// Kinds of content of entries in a line program's header.
const (
	lnctPath      = 1
	lnctDirectory = 2
)

// path is the file of that number, relative to the directory of the compilation if it is
// below that; "" if there is none.
func (f *fileNames) path(i uint64) string {
	if i >= uint64(len(f.files)) {
		return ""
	}
	if f.paths[i] == "" {
		p := f.join(f.files[i])
		if f.budget != nil && !f.budget.spend(len(p)) {
			return ""
		}
		if same, ok := f.pool[p]; ok {
			p = same
		}
		f.pool[p], f.paths[i] = p, p
	}
	return f.paths[i]
}

func (f *fileNames) join(file fileName) string {
	name := string(file.name)
	if file.dir < uint64(len(f.dirs)) && !path.IsAbs(name) {
		name = path.Join(string(f.dirs[file.dir]), name)
	}
	if !path.IsAbs(name) || len(f.dirs) == 0 {
		return path.Clean(name)
	}
	return strings.TrimPrefix(path.Clean(name), path.Clean(string(f.dirs[0]))+"/")
}

// fileNames reads those of a unit; of what is damaged there are none.
func (d *sections) fileNames(u *unit, r *root, pool map[string]string) fileNames {
	f := fileNames{pool: pool, budget: d.budget}
	c := cursor{data: d.line, off: r.lines}
	length := c.fixed(4)
	if !r.hasLines || length > uint64(len(d.line)) || c.off+length > uint64(len(d.line)) {
		return f
	}
	c.data = d.line[:c.off+length]
	start := c.off
	version := c.fixed(2)
	if version >= 5 {
		c.off += 2 // sizes of an address and of a segment selector
	}
	c.off += 4 + 4 // length of the header; of instructions, is_stmt, line base and range
	if version >= 4 {
		c.off++ // operations in an instruction
	}
	c.off += max(c.fixed(1), 1) - 1 // lengths of opcodes
	if version >= 5 {
		f.names5(d, &c, u, r)
	} else {
		f.names4(d, &c, r)
	}
	// Headers that units share are read for each, and paid for.
	if !d.budget.spend(int(c.off - start)) {
		f.files = nil
	}
	f.paths = make([]string, len(f.files))
	return f
}

// names5 reads the tables of DWARF 5, where the directory 0 is that of the compilation.
func (f *fileNames) names5(d *sections, c *cursor, u *unit, r *root) {
	d.entries(c, u, r, func(n fileName) { f.dirs = append(f.dirs, n.name) })
	d.entries(c, u, r, func(n fileName) { f.files = append(f.files, n) })
}

// entries reads one table of DWARF 5.
func (d *sections) entries(c *cursor, u *unit, r *root, yield func(fileName)) {
	format := make([]attr, c.fixed(1))
	for i := range format {
		format[i] = attr{name: c.uleb(), form: c.uleb()}
	}
	n := c.uleb()
	if n > uint64(len(c.rest())) { // none has no bytes
		c.bad = true
	}
	for ; n > 0 && !c.bad && d.budget.spend(fileCost); n-- {
		var file fileName
		for i := range format {
			switch format[i].name {
			case lnctPath:
				file.name = d.text(c, u, r, format[i].form)
			case lnctDirectory:
				file.dir = c.value(u, &format[i]).raw
			default:
				c.skip(u, format[i].form)
			}
		}
		yield(file)
	}
}

// names4 reads the tables of DWARF 2 to 4: of the directory 0 it tells nothing, and files
// count from 1.
func (f *fileNames) names4(d *sections, c *cursor, r *root) {
	f.dirs, f.files = append(f.dirs, r.compDir), append(f.files, fileName{})
	next := func() []byte {
		if !d.budget.spend(fileCost) {
			return nil
		}
		return c.text()
	}
	for dir := next(); len(dir) > 0; dir = next() {
		f.dirs = append(f.dirs, dir)
	}
	for name := next(); len(name) > 0; name = next() {
		f.files = append(f.files, fileName{name, c.uleb()})
		c.uleb() // when it was changed
		c.uleb() // how long it is
	}
}
