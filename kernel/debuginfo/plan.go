package debuginfo

// What a scan does with an entry, by its tag.
type todo uint8

const (
	passOver  todo = iota // what is below it is of no interest, if its sibling is known
	passInto              // look at what is below it
	takeIn                // a function or an inlined copy: read it
	undefined             // there is no such abbreviation
)

// A plan says how to get over the entries of one abbreviation code fast.
type plan struct {
	todo     todo
	children bool
	tag      uint64
	attrs    []attr
	steps    []step
}

// A step passes over attributes: a number of bytes, then one of a form whose length is in
// the data, if it is not 0. A sibling is such a form too, for its value is wanted.
type step struct {
	bytes   uint32
	form    uint16
	sibling bool
}

// Tags of what encloses code.
const (
	tagLexicalBlock = 0x0b
	tagCompileUnit  = 0x11
	tagInlined      = 0x1d
	tagNamespace    = 0x39
	tagPartialUnit  = 0x3c
)

// plans are those of a table of abbreviations. types tells whether functions may lie in
// types, as in Rust or C++.
func plans(table []shape, u *unit, types bool) []plan {
	all := make([]plan, len(table))
	for i := range table {
		s := &table[i]
		all[i] = plan{todo: planFor(s.tag, types), children: s.children, tag: s.tag, attrs: s.attrs}
		if all[i].todo == passOver || all[i].todo == passInto {
			all[i].steps = steps(s.attrs, u)
		}
	}
	return all
}

func planFor(tag uint64, types bool) todo {
	switch tag {
	case 0:
		return undefined
	case tagSubprogram, tagInlined:
		return takeIn
	case tagCompileUnit, tagPartialUnit, tagLexicalBlock, tagNamespace:
		return passInto
	}
	if types {
		return passInto
	}
	return passOver
}

func steps(attrs []attr, u *unit) []step {
	out := make([]step, 0, 4)
	var now step
	for _, a := range attrs {
		n, fixed := fixedSize(a.form, u)
		if fixed && a.name != atSibling {
			now.bytes += uint32(n)
			continue
		}
		now.form, now.sibling = uint16(min(a.form, 0xffff)), a.name == atSibling
		out, now = append(out, now), step{}
	}
	if now.bytes > 0 {
		out = append(out, now)
	}
	return out
}

func fixedSize(form uint64, u *unit) (n int, ok bool) {
	switch {
	case form == formPresent || form == formImplicit:
		return 0, true
	case form == formAddr:
		return u.addrSize, true
	case form < uint64(len(sizes)) && sizes[form] != 0:
		return int(sizes[form]), true
	}
	return 0, false
}

// over passes over the attributes of an entry and gives its sibling, 0 if it has none.
func (p *plan) over(c *cursor, u *unit) (sibling uint64) {
	for i := range p.steps {
		s := &p.steps[i]
		c.off += uint64(s.bytes)
		switch {
		case s.sibling:
			sibling = c.reference(u, uint64(s.form))
		case s.form != 0:
			c.skip(u, uint64(s.form))
		}
	}
	return sibling
}
