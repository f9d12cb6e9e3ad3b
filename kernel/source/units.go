package source

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"slices"
)

// An extent is a piece of a unit's code. The standard library's SeekPC reads every unit's
// entry for every address: a hundred times as long, where many are asked for.
type extent struct {
	lo, hi uint64
	unit   dwarf.Offset
}

// unit reads the entry of the unit with the code at a link-time address, nil if none has it.
func (in *Info) unit(r *dwarf.Reader, pc uint64) (*dwarf.Entry, error) {
	if in.units == nil {
		if err := in.readUnits(); err != nil {
			return nil, fmt.Errorf("reading debug information: %w", err)
		}
	}
	i, found := slices.BinarySearchFunc(in.units, pc, func(x extent, pc uint64) int { return cmp.Compare(x.lo, pc) })
	if !found {
		i--
	}
	if i < 0 || pc >= in.units[i].hi {
		return nil, nil
	}
	r.Seek(in.units[i].unit)
	return r.Next()
}

func (in *Info) readUnits() error {
	r := in.data.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			return err
		}
		if e == nil {
			break
		}
		r.SkipChildren() // to the next unit
		if e.Tag != dwarf.TagCompileUnit {
			continue
		}
		ranges, err := in.data.Ranges(e)
		if err != nil {
			return err
		}
		for _, x := range ranges {
			if x[0] < x[1] {
				in.units = append(in.units, extent{x[0], x[1], e.Offset})
			}
		}
	}
	slices.SortStableFunc(in.units, func(a, b extent) int { return cmp.Compare(a.lo, b.lo) })
	return nil
}
