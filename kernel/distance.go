package kernel

// distance counts the edits (insert, delete, replace or swap of two neighbours) that
// turn one name into others. It keeps its rows from one name to the next.
type distance struct {
	from            string
	cur, prev, old2 []int // rows of the table: this one, the last and the one before
}

func newDistance(from string) *distance {
	n := len(from) + 1
	return &distance{from, make([]int, n), make([]int, n), make([]int, n)}
}

// to is the distance to a name, or some number over limit if it is more than that.
func (d *distance) to(name string, limit int) int {
	if gap := len(name) - len(d.from); gap > limit || -gap > limit {
		return limit + 1
	}
	for j := range d.prev {
		d.prev[j] = j
	}
	for i := range len(name) {
		if d.row(name, i) > limit {
			return limit + 1
		}
		d.cur, d.prev, d.old2 = d.old2, d.cur, d.prev
	}
	return d.prev[len(d.from)]
}

// row fills cur for name[:i+1] and gives its smallest entry.
func (d *distance) row(name string, i int) int {
	d.cur[0] = i + 1
	least := d.cur[0]
	for j := range len(d.from) {
		cost := 1
		if name[i] == d.from[j] {
			cost = 0
		}
		best := min(d.prev[j]+cost, d.prev[j+1]+1, d.cur[j]+1)
		if i > 0 && j > 0 && name[i] == d.from[j-1] && name[i-1] == d.from[j] {
			best = min(best, d.old2[j-1]+1)
		}
		d.cur[j+1] = best
		least = min(least, best)
	}
	return least
}
