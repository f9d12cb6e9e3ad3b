package debuginfo

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// scanAll scans all units on all processors. The results are in the order of the units,
// whoever made them. progress is told of bytes done, by the caller's goroutine.
func (d *sections) scanAll(units []unit, progress func(done int64)) []scanned {
	results := make([]scanned, len(units))
	done := make(chan int64, 64)
	var next atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() { d.scanSome(units, results, &next, done) })
	}
	go func() { all.Wait(); close(done) }()
	for n := range done {
		progress(n)
	}
	return results
}

// scanSome scans units until there are no more.
func (d *sections) scanSome(units []unit, results []scanned, next *atomic.Int64, done chan<- int64) {
	pool := make(map[string]string)
	for i := next.Add(1) - 1; i < int64(len(units)); i = next.Add(1) - 1 {
		u := &units[i]
		results[i] = d.scan(u, pool)
		done <- int64(u.end - u.start)
	}
}

// scan scans one unit.
func (d *sections) scan(u *unit, pool map[string]string) scanned {
	table := shapes(d.abbrev, u.abbrevs)
	r, ok := d.root(u, table)
	if !ok {
		return scanned{}
	}
	s := scan{d: d, u: u, root: r, plans: plans(table, u, r.inTypes()), files: d.fileNames(u, &r, pool)}
	return s.run()
}
