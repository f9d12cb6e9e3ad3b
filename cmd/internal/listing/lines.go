package listing

import (
	"cmp"
	"slices"

	"trapline/kernel/source"
)

// A lineCount is how many instructions of a source line ran.
type lineCount struct {
	source.Line
	hits uint64
}

// lines returns the source lines that ran, the hottest first.
func (l *Listing) lines() []lineCount {
	sum := map[source.Line]uint64{}
	for i := range l.Rows {
		if r := &l.Rows[i]; r.Hits > 0 && r.Place.Line.Line > 0 {
			sum[r.Place.Line] += r.Hits
		}
	}
	var all []lineCount
	for line, hits := range sum {
		all = append(all, lineCount{line, hits})
	}
	slices.SortFunc(all, func(a, b lineCount) int {
		return cmp.Or(-cmp.Compare(a.hits, b.hits), cmp.Compare(a.File, b.File), cmp.Compare(a.Line.Line, b.Line.Line))
	})
	return all
}
