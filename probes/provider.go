package probes

// A Provider makes probes of one kind and knows how to switch them on. It never prints
// and knows nothing of D. What happens at a firing is up to the Sink that it was given
// when it was made.
type Provider interface {
	// Name is the first part of its probes' names.
	Name() string

	// Provide returns the probes that d matches, by ID, and makes those that do not exist
	// yet. d.Provider matches Name. No match is no error; an error says in plain words
	// why something asked for by its own name cannot be probed.
	Provide(d Desc) ([]*Probe, error)

	// Enable switches on probes of this provider that are off, sorted by ID. After an
	// error all of them are off.
	Enable(p []*Probe) error

	// Disable switches off probes that are on, sorted by ID.
	Disable(p []*Probe) error
}

// A Reporter is a provider with something to say about what it did not do: probes
// passed over, suspended, and why. One fact a line, in a stable order.
type Reporter interface {
	Report() []string
}

// A Loser is a provider whose probes may fire without what they should pass. Lost says which have
// done so, and why, one fact a line: a trace says it even if it is not asked to.
type Loser interface {
	Lost() []string
}

// A Forgetter is a provider that keeps what it has found out about text.
type Forgetter interface {
	// Forget drops what is known of text at [lo, hi), which is not there any more. It is called
	// before the text's points are dropped: none of a probe in another text may be left there.
	Forget(lo, hi uint64)
}

// A Selector decides for probes that do not fire at every hit of their breakpoints. A provider
// that is one decides for all of its own.
type Selector interface {
	// Always reports whether p fires at every hit.
	Always(p *Probe) bool
	// Select reports whether f.Probe fires at this hit: the CPU is at the breakpoint. It
	// may fill in f.Args.
	Select(f *Firing) bool
}

// DTrace is the provider "dtrace": BEGIN, END and ERROR. The session fires them.
type DTrace struct {
	Begin, End, Error *Probe
	group             *Group
}

// NewDTrace makes the provider and its three probes.
func NewDTrace(r *Registry) *DTrace {
	d := &DTrace{}
	d.group = r.Group(d, "", "", 0)
	d.Begin = d.group.Named("BEGIN", 0)
	d.End = d.group.Named("END", 0)
	d.Error = d.group.Named("ERROR", 0)
	return d
}

// Name is "dtrace".
func (d *DTrace) Name() string { return "dtrace" }

var aboutDTrace = About{Stability: Stable}

// About implements Abouter.
func (d *DTrace) About() *About { return &aboutDTrace }

// Provide returns those of the three that desc matches.
func (d *DTrace) Provide(desc Desc) ([]*Probe, error) { return d.group.Match(desc), nil }

// Enable does nothing: the three are always ready.
func (d *DTrace) Enable([]*Probe) error { return nil }

// Disable does nothing.
func (d *DTrace) Disable([]*Probe) error { return nil }
