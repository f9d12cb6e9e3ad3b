package debuginfo

// A shape says what the entries of one abbreviation code consist of.
type shape struct {
	tag      uint64 // 0: there is no such code
	children bool
	todo     todo
	attrs    []attr
	steps    []step // to get over the attributes fast
}

type attr struct {
	name, form uint64
	value      int64 // of an implicit constant
}

// A step passes over attributes: a number of bytes, then one of a form whose length is in
// the data, if it is not 0. A sibling is such a form too, for its value is wanted.
type step struct {
	bytes   uint32
	form    uint16
	sibling bool
}

// Bounds of a table of abbreviations. Compilers number codes from 1, and need some hundreds, with
// about ten attributes each.
const (
	maxCodes      = 1 << 14
	maxAttrs      = 1 << 8  // of one code
	maxTableAttrs = 1 << 16 // of all
)

// A tableReader reads one table. What its shapes consist of lies in few large slices.
type tableReader struct {
	cursor
	addrSize int
	attrs    []attr
	steps    []step
}

// shapes reads the table of abbreviations at a place of .debug_abbrev (DWARF 5, 7.5.3), by code,
// for addresses of a number of bytes. size is that of the table. What follows damage is left out;
// a code is damage, too, that is greater than the bytes of the table up to there.
func shapes(abbrev []byte, at uint64, addrSize int) (t []shape, size uint64) {
	if at >= uint64(len(abbrev)) {
		return nil, 0
	}
	r := tableReader{cursor: cursor{data: abbrev, off: at}, addrSize: addrSize, attrs: make([]attr, 0, 512), steps: make([]step, 0, 128)}
	t = make([]shape, 1, 64)
	for all := 0; !r.bad && all <= maxTableAttrs; {
		code := r.uleb()
		if code == 0 || code > min(maxCodes, r.off-at) {
			break
		}
		s := r.shape()
		all += len(s.attrs)
		for uint64(len(t)) <= code {
			t = append(t, shape{})
		}
		t[code] = s
	}
	return t, r.off - at
}

// shape reads what follows a code.
func (r *tableReader) shape() shape {
	s := shape{tag: r.uleb(), children: r.byte() != 0}
	first := len(r.attrs)
	for !r.bad && len(r.attrs)-first < maxAttrs {
		a := attr{name: r.uleb(), form: r.uleb()}
		if a.form == formImplicit {
			a.value = r.sleb()
		}
		if a.name == 0 && a.form == 0 {
			break
		}
		r.attrs = append(r.attrs, a)
	}
	s.attrs = r.attrs[first:len(r.attrs):len(r.attrs)]
	s.todo, s.steps = todoFor(s.tag), r.over(s.attrs)
	return s
}

// over makes the steps over attributes.
func (r *tableReader) over(attrs []attr) []step {
	first, now := len(r.steps), step{}
	for i := range attrs {
		a := &attrs[i]
		n, fixed := fixedSize(a.form, r.addrSize)
		if fixed && a.name != atSibling {
			now.bytes += uint32(n)
			continue
		}
		now.form, now.sibling = uint16(min(a.form, 0xffff)), a.name == atSibling
		r.steps, now = append(r.steps, now), step{}
	}
	if now.bytes > 0 {
		r.steps = append(r.steps, now)
	}
	return r.steps[first:len(r.steps):len(r.steps)]
}

// fixedSize is the bytes of a form that has always as many.
func fixedSize(form uint64, addrSize int) (n int, ok bool) {
	switch {
	case form == formPresent || form == formImplicit:
		return 0, true
	case form == formAddr:
		return addrSize, true
	case form < uint64(len(sizes)) && sizes[form] != 0:
		return int(sizes[form]), true
	}
	return 0, false
}

// What a scan for functions does with an entry, by its tag.
type todo uint8

const (
	passOver todo = iota // what is below it is of no interest, if its sibling is known
	passInto             // look at what is below it
	takeIn               // a function or an inlined copy: read it
)

// Tags of what encloses code.
const (
	tagLexicalBlock = 0x0b
	tagCompileUnit  = 0x11
	tagInlined      = 0x1d
	tagNamespace    = 0x39
	tagPartialUnit  = 0x3c
)

func todoFor(tag uint64) todo {
	switch tag {
	case tagSubprogram, tagInlined:
		return takeIn
	case tagCompileUnit, tagPartialUnit, tagLexicalBlock, tagNamespace:
		return passInto
	}
	return passOver
}
