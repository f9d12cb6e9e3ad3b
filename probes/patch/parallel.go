package patch

import (
	"runtime"
	"slices"
)

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
