package debuginfo

import (
	"errors"
	"hash/crc32"
)

// tables are what an index consists of, as in its file: magic, version, checksum of what
// follows; the lengths of the tables; the tables; all numbers little-endian. Rows of
// functions, definitions and copies name the first of something in another table; the last
// row, a sentinel, names the end.
type tables struct {
	funcs  table // by name
	defs   table // by function, then address
	copies table // by function, then address
	ranges table // lo, hi
	spans  table // pieces of definitions, by address
	inside table // copies by the definition that they are in
	texts  []byte
}

// Columns. An address takes two.
const (
	funcName, funcDef, funcCopy = 0, 1, 2
	funcCols                    = 3

	defEntry, defDie, defFunc, defFile, defLine, defRange, defInside = 0, 2, 3, 4, 5, 6, 7
	defCols                                                          = 8

	copyEntry, copyDie, copyFunc, copyFile, copyLine, copyRange, copyDef = 0, 2, 3, 4, 5, 6, 7
	copyParent                                                           = 8 // row + 1, 0: none
	copyPart                                                             = 9 // 1: see Copy.Part
	copyCols                                                             = 10

	rangeCols = 4

	spanLo, spanHi, spanDef = 0, 2, 4
	spanCols                = 5

	insideCols = 1
)

// A table is rows of numbers of 32 bits.
type table struct {
	data []byte
	cols int
}

func (t table) rows() int { return len(t.data) / 4 / t.cols }

func (t table) at(row, col int) uint32 { return le.Uint32(t.data[4*(row*t.cols+col):]) }

func (t table) address(row, col int) uint64 { return le.Uint64(t.data[4*(row*t.cols+col):]) }

// add adds a row, or a part of it.
func (t *table) add(values ...uint32) {
	for _, v := range values {
		t.data = le.AppendUint32(t.data, v)
	}
}

func (t *table) addAddress(a uint64) { t.data = le.AppendUint64(t.data, a) }

// text is the string that begins there.
func (t *tables) text(at uint32) string { return string(stringIn(t.texts, uint64(at))) }

func (t *tables) all() []*table {
	return []*table{&t.funcs, &t.defs, &t.copies, &t.ranges, &t.spans, &t.inside}
}

func newTables() tables {
	var t tables
	for i, cols := range []int{funcCols, defCols, copyCols, rangeCols, spanCols, insideCols} {
		t.all()[i].cols = cols
	}
	return t
}

// The magic ends in the version, which changes with the format and with what is in it.
const (
	indexMagic  = "tl-func\x02"
	indexHeader = len(indexMagic) + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// bytes is the file.
func (t *tables) bytes() []byte {
	body := make([]byte, 0, 4096)
	for _, tab := range t.all() {
		body = le.AppendUint32(body, uint32(len(tab.data)))
	}
	for _, tab := range t.all() {
		body = append(body, tab.data...)
	}
	body = append(body, t.texts...)
	file := le.AppendUint32([]byte(indexMagic), crc32.Checksum(body, castagnoli))
	return append(file, body...)
}

var errIndex = errors.New("not an index of this version, or damaged")

// readTables takes the tables from a file.
func readTables(file []byte) (tables, error) {
	t := newTables()
	lengths := 4 * len(t.all())
	if len(file) < indexHeader+lengths || string(file[:len(indexMagic)]) != indexMagic {
		return t, errIndex
	}
	body := file[indexHeader:]
	if le.Uint32(file[len(indexMagic):]) != crc32.Checksum(body, castagnoli) {
		return t, errIndex
	}
	rest := body[lengths:]
	for i, tab := range t.all() {
		n := le.Uint32(body[4*i:])
		if uint64(n) > uint64(len(rest)) {
			return t, errIndex
		}
		tab.data, rest = rest[:n], rest[n:]
	}
	t.texts = rest
	return t, nil
}
