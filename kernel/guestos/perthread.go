package guestos

// PerThread is something that is known of threads: a V of each. Threads are found by the kernel's
// structures for them. When a structure is another thread's than before, the thread that it was
// has ended, and what was known of it goes. So there is at most one V for each structure that the
// guest has in its memory, however many threads come and go. The zero value is empty.
type PerThread[V any] struct {
	byAddr map[uint64]*ofThread[V]
}

type ofThread[V any] struct {
	key   uint64
	value V
}

// maxStructures bounds the structures, for a guest that has threads where no kernel has. One with
// 8 GB of memory that holds nothing but Linux's has room for fewer.
const maxStructures = 1 << 20

// Of is what is known of t, the zero value if that is nothing yet. It may be written to until the
// next call. It is nil if there is no room for another structure.
func (p *PerThread[V]) Of(t *Thread) *V {
	known := p.byAddr[t.Addr]
	switch {
	case known != nil && known.key == t.Key:
	case known != nil:
		*known = ofThread[V]{key: t.Key}
	case len(p.byAddr) == maxStructures:
		return nil
	default:
		if p.byAddr == nil {
			p.byAddr = map[uint64]*ofThread[V]{}
		}
		known = &ofThread[V]{key: t.Key}
		p.byAddr[t.Addr] = known
	}
	return &known.value
}

// Find is what is known of t, nil if that is nothing.
func (p *PerThread[V]) Find(t *Thread) *V {
	if known := p.byAddr[t.Addr]; known != nil && known.key == t.Key {
		return &known.value
	}
	return nil
}

// Len is of how many threads something is known.
func (p *PerThread[V]) Len() int { return len(p.byAddr) }
