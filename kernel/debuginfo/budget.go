package debuginfo

import (
	"fmt"
	"sync/atomic"
)

// spare is what reading debug information may take beyond its own size, in bytes.
const spare = 64 << 20

// A budget bounds the memory that is taken for what an image's debug information describes:
// some bytes can claim to be very many things. Several goroutines may spend it.
type budget struct {
	all  int64
	left atomic.Int64
}

// newBudget allows as many bytes as a file has, or sections if these are more, and spare.
func newBudget(file int, sections ...[]byte) *budget {
	b, sum := &budget{}, 0
	for _, s := range sections {
		sum += len(s)
	}
	b.all = int64(max(file, sum)) + spare
	b.left.Store(b.all)
	return b
}

// spend takes n bytes. It reports whether there were as many; once it has not, there are no more.
func (b *budget) spend(n int) bool { return b.left.Add(-int64(n)) >= 0 }

// A purse spends a budget for one goroutine, in larger sums, so that several do not wait for one
// another. What is in it must be spent at the end.
type purse struct {
	*budget
	owed  int
	broke bool
}

func (p *purse) spend(n int) bool {
	if p.owed += n; p.owed >= 1<<16 {
		p.settle()
	}
	return !p.broke
}

func (p *purse) settle() {
	p.broke = !p.budget.spend(p.owed) || p.broke
	p.owed = 0
}

// err is the error of a budget that has not sufficed, nil of another.
func (b *budget) err() error {
	if b.left.Load() >= 0 {
		return nil
	}
	return fmt.Errorf("damaged: its debug information would take more than %d MiB of memory", b.all>>20)
}

// Bytes that are spent on one of each, with what is made of it later.
const (
	unitCost     = 256
	functionCost = 224
	defCost      = 256
	copyCost     = 288
	rangeCost    = 48
	fileCost     = 8 // for a time only: those of one unit go before the next's come
	nameCost     = 96
	typeCost     = 192
	partCost     = 64 // a member, parameter or enumerator
)
