package source

// A Start is an address of the running kernel at which a line begins.
type Start struct {
	Addr uint64
	Line
}

// Starts are the places at which lines begin, by address: rows of the line table that begin
// a statement, of several of one line in succession the first. A line may begin often, and
// several lines at one address: the compiler has left nothing of the statements of all but
// the last.
func (f *Function) Starts() (all []Start) {
	var last row
	for _, r := range f.rows {
		if r.stmt && r.line.Line > 0 && !(last.stmt && last.line == r.line) {
			all = append(all, Start{r.addr + f.slide, r.line})
		}
		last = r
	}
	return all
}
