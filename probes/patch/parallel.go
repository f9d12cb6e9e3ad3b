package patch

import (
	"runtime"
	"slices"
)

// Look has look examine the texts of functions, each given once, and take get what it finds, in
// their order. look runs on all CPUs at once and changes nothing: walk yields the text that the
// function had in the beginning, or fails as Each would. take runs here. It may add points, and
// look at other functions than those that are still to come.
func Look[T any](s *Set, funcs []*Func, look func(f *Func, walk Walk) T, take func(f *Func, found T)) {
	type looked struct {
		f     *Func
		walk  Walk
		found T
	}
	all := make([]looked, len(funcs))
	for i, f := range funcs {
		all[i] = looked{f: f, walk: f.each}
		if err := s.refresh([]*Func{f}); err != nil {
			all[i].walk = func(func(int, []byte) bool) error { return err }
		}
	}
	inOrder(all, func(x looked) looked {
		x.found = look(x.f, x.walk)
		return x
	}, func(x looked) { take(x.f, x.found) })
}

// batch is how many functions are worth a goroutine. Tests set it.
var batch = 64

// inOrder has take get f of each element of in, in their order. Where there are many, f runs
// on all CPUs at once, and is some batches ahead of take, which runs here. f must not depend
// on what take does.
func inOrder[T, R any](in []T, f func(T) R, take func(R)) {
	if len(in) <= batch {
		for _, x := range in {
			take(f(x))
		}
		return
	}
	batches := make(chan chan []R, 2*runtime.GOMAXPROCS(0))
	go func() {
		defer close(batches)
		for some := range slices.Chunk(in, batch) {
			done := make(chan []R, 1)
			batches <- done
			go func() { done <- each(some, f) }()
		}
	}()
	for done := range batches {
		for _, r := range <-done {
			take(r)
		}
	}
}

// each is f of each element of in.
func each[T, R any](in []T, f func(T) R) []R {
	out := make([]R, len(in))
	for i, x := range in {
		out[i] = f(x)
	}
	return out
}
