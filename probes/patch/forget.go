package patch

import "slices"

// Forget drops all that is known of text at [lo, hi), which is not there any more: what
// comes to lie there is another text. No probe is enabled there. Hits stay in Total.
func (s *Set) Forget(lo, hi uint64) {
	gone := func(f *Func) bool { return f.Start-lo < hi-lo }
	for n := lo / s.pageSize; n <= (hi-1)/s.pageSize; n++ {
		if pg := s.pages[n]; pg != nil {
			s.clear(pg, gone)
		}
		if pg := s.pages[n]; pg != nil && len(pg.funcs) == 0 {
			delete(s.pages, n)
		}
	}
	for addr := range s.funcs {
		if addr-lo < hi-lo {
			delete(s.funcs, addr)
		}
	}
	s.counting = slices.DeleteFunc(s.counting, func(addr uint64) bool { return addr-lo < hi-lo })
	s.last = nil
	s.target.ForgetText(lo, hi)
}

// clear takes functions and their points off a page.
func (s *Set) clear(pg *page, gone func(*Func) bool) {
	pg.funcs = slices.DeleteFunc(pg.funcs, gone)
	for i := range pg.points {
		p := &pg.points[i]
		if at := &pg.index[p.addr()-pg.base]; gone(p.fn) && int(*at) == i+1 {
			s.forgotten += p.hits
			*at = 0
		}
	}
}
