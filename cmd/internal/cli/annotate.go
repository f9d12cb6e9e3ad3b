package cli

import (
	"fmt"
	"io"

	"trapline/cmd/internal/lesson"
	"trapline/cmd/internal/listing"
	"trapline/cmd/internal/sandbox"
	"trapline/kernel"
	"trapline/probes"
	"trapline/probes/kinst"
	"trapline/probes/ktext"
	"trapline/probes/patch"
)

const annotateNotes = `annotate probes every instruction of the function while the guest runs the command of -c, or boots.
It shows how often each instruction ran, how often each conditional branch was taken, and which
source lines ran most. Lines need debug information, and their text needs the source: the embedded
kernel has both, other kernels need --source. An instruction that cannot be traced has no count.
`

// runAnnotate counts how often the instructions of a function run.
func runAnnotate(e *env, args []string) error {
	var o guestOptions
	var html, dir string
	f := e.newFlags("annotate", annotateNotes)
	o.imageFlag(f)
	f.StringVar(&html, "html", "", "write a page to `FILE` instead")
	sourceDirFlag(f, &dir)
	o.add(f)
	if err := parse(f, args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return usagef("annotate: name one FUNCTION")
	}
	e.allow(sandbox.Policy{Read: []string{dir}, Files: []string{html}})
	all, err := e.annotate(o, f.Arg(0), dir)
	if err != nil {
		return err
	}
	if html != "" {
		return writeFile(html, func(w io.Writer) error {
			return listing.HTML(w, fmt.Sprintf("%s in %s: %s", f.Arg(0), o.image, string(o.command)), all, true)
		})
	}
	for i, l := range all {
		if i > 0 {
			fmt.Fprintln(e.stdout)
		}
		if err := l.Text(e.stdout, listing.Style{Color: color(e.stdout), Counts: true}); err != nil {
			return err
		}
	}
	return nil
}

// annotate runs a guest and counts what it executes of the functions of a name.
func (e *env) annotate(o guestOptions, name, dir string) ([]*listing.Listing, error) {
	g, silent, err := e.observed(o)
	if err != nil {
		return nil, err
	}
	defer g.close()
	all, err := g.count(name, dir)
	if err != nil {
		return nil, fmt.Errorf("annotate: %w", g.inlinedOnly(e, err))
	}
	end, err := g.rest(e, func() bool { return false })
	if err == nil {
		err = g.trouble(end)
	}
	e.last = silent.last
	return all, err
}

// count makes listings of the functions of a name, and probes that count into them.
func (g *guest) count(name, dir string) (all []*listing.Listing, err error) {
	r, err := lesson.Record(g.machine)
	if err != nil {
		return nil, err
	}
	var counter *listing.Counter
	set, err := patch.New(r, g.Image.Text, probes.SinkFunc(func(f *probes.Firing) { counter.Fire(f) }))
	if err != nil {
		return nil, err
	}
	registry := probes.NewRegistry()
	text := &ktext.Text{Set: set, Symbols: g.Image.Symtab(), Arch: g.Arch(), System: g.OS.System(), Unsafe: g.OS.Unsafe}
	registry.Add(kinst.New(registry, text, nil))
	found, err := registry.Match(probes.Desc{Provider: kinst.Name, Function: name})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no function matches %s", name)
	}
	v, err := g.view(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range functionsOf(g.Image, found) {
		l, err := v.listing(f, g.machine.ReadMem)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	counter = listing.NewCounter(all)
	if err := registry.Enable(found); err != nil {
		return nil, err
	}
	for _, b := range r.Breaks {
		counter.Planted(b, r.Slot(b.Addr))
	}
	return all, nil
}

// functionsOf are the functions that probes are in, in the order of the probes.
func functionsOf(img *kernel.Image, found []*probes.Probe) (all []kernel.Symbol) {
	seen := map[*probes.Group]bool{}
	for _, p := range found {
		if seen[p.Group()] {
			continue
		}
		seen[p.Group()] = true
		for _, s := range img.Symtab().Lookup(p.Function()) {
			if s.Addr == p.Group().Base() {
				all = append(all, s)
				break
			}
		}
	}
	return all
}
