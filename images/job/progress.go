// Package job is for long steps of work on images: programs of the host that run to their end, files
// that are copied and summed, and how far all that is.
package job

// Progress hears how far a long step is. It is called from one goroutine at a time.
type Progress interface {
	// Start begins a step. total is its size in bytes, or below zero if nobody knows.
	Start(what string, total int64)
	// Add says that n more bytes are done.
	Add(n int64)
	// Done ends the step, also one that failed.
	Done()
}

// NoProgress is a Progress that shows nothing.
type NoProgress struct{}

// Start does nothing.
func (NoProgress) Start(string, int64) {}

// Add does nothing.
func (NoProgress) Add(int64) {}

// Done does nothing.
func (NoProgress) Done() {}
