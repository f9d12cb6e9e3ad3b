package debuginfo

import (
	"cmp"
	"runtime"
	"sync"
	"sync/atomic"

	"trapline/kernel"
)

// scanAll scans all units on all processors. The results are in the order of the units,
// whoever made them. progress is called with bytes done, by the caller's goroutine. It fails if the
// results would take more memory than they may.
func (d *sections) scanAll(units []unit, progress func(done int64)) ([]scanned, error) {
	results := make([]scanned, len(units))
	errs := make([]error, runtime.GOMAXPROCS(0))
	done := make(chan int64, 64)
	var next atomic.Int64
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = d.scanSome(units, results, &next, done) })
	}
	go func() { all.Wait(); close(done) }()
	for n := range done {
		progress(n)
	}
	return results, cmp.Or(append(errs, d.budget.err())...)
}

// scanSome scans units until there are no more, or no memory.
func (d *sections) scanSome(units []unit, results []scanned, next *atomic.Int64, done chan<- int64) (err error) {
	defer kernel.Recover(&err)
	pool := make(map[string]string)
	for i := next.Add(1) - 1; i < int64(len(units)) && d.budget.err() == nil; i = next.Add(1) - 1 {
		u := &units[i]
		results[i] = d.scan(u, pool)
		done <- int64(u.end - u.start)
	}
	return nil
}

// scan scans one unit. Tables that units share are read for each, and paid for.
func (d *sections) scan(u *unit, pool map[string]string) scanned {
	table, size := shapes(d.abbrev, u.abbrevs, u.addrSize)
	if !d.budget.spend(int(size)) {
		return scanned{}
	}
	r, ok := d.root(u, table)
	if !ok {
		return scanned{}
	}
	s := scan{d: d, u: u, root: r, files: d.fileNames(u, &r, pool), purse: purse{budget: d.budget}}
	return s.run(table)
}
