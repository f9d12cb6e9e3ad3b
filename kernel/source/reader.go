package source

import "debug/dwarf"

// A reader is the standard library's, that ends.
type reader struct {
	*dwarf.Reader
	ends int // of children, that have come one after another
}

func newReader(data *dwarf.Data) *reader { return &reader{Reader: data.Reader()} }

// Next is that of the library, which gives one end of children after another where a unit ends in
// the middle of a number.
func (r *reader) Next() (*dwarf.Entry, error) {
	e, err := r.Reader.Next()
	if err != nil || e == nil {
		return nil, err
	}
	if r.ends++; e.Tag != 0 {
		r.ends = 0
	}
	if r.ends > maxScopes {
		return nil, errTooMany
	}
	return e, nil
}

// skip goes to what follows the entry that r has just read and all below it. The library's
// SkipChildren is as deep a recursion as entries lie in one another.
func skip(r *reader, e *dwarf.Entry) error {
	for depth := 0; e != nil; {
		sibling, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset)
		switch {
		case e.Tag == 0:
			depth--
		case e.Children && ok && sibling > e.Offset:
			r.Seek(sibling)
		case e.Children:
			depth++
		}
		if depth <= 0 {
			return nil
		}
		var err error
		if e, err = r.Next(); err != nil {
			return err
		}
	}
	return nil
}
