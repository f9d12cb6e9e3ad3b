package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"trapline/cmd/internal/lesson"
	"trapline/cmd/internal/sandbox"
	"trapline/kernel"
	"trapline/probes"
	"trapline/probes/kinst"
	"trapline/probes/ktext"
	"trapline/probes/patch"
)

const explainNotes = `PROBE is FUNCTION:OFFSET or kinst:MODULE:FUNCTION:OFFSET; 'trapline disas FUNCTION' shows the offsets.
The guest runs the command of -c, or boots, until the probe has fired. The bytes, addresses and
registers shown are those of that firing.
`

// runExplain explains one firing of a probe step by step.
func runExplain(e *env, args []string) error {
	var o guestOptions
	var html string
	var nth int
	f := e.newFlags("explain", explainNotes)
	o.imageFlag(f)
	f.IntVar(&nth, "firing", 1, "explain the `N`th firing")
	f.StringVar(&html, "html", "", "write a page to `FILE` instead")
	o.add(f)
	if err := parse(f, args); err != nil {
		return err
	}
	if f.NArg() != 1 || nth < 1 {
		return usagef("explain: name one PROBE, such as sys_fork:0, and a firing from 1 on")
	}
	desc, err := kinst.ParseDesc(f.Arg(0))
	if err != nil {
		return usagef("explain: %v", err)
	}
	e.allow(sandbox.Policy{Files: []string{html}})
	firing, err := e.firing(o, desc, nth)
	if err != nil {
		return err
	}
	if html == "" {
		return firing.Lesson().Text(e.stdout)
	}
	return writeFile(html, firing.Lesson().HTML)
}

// writeFile writes a file by a function.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	err = write(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// firing runs a guest until the probe has fired for the nth time, and what follows.
func (e *env) firing(o guestOptions, desc probes.Desc, nth int) (*lesson.Firing, error) {
	g, _, err := e.observed(o)
	if err != nil {
		return nil, err
	}
	defer g.close()
	w, err := g.watch(desc, nth)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", g.inlinedOnly(e, err))
	}
	if _, err := g.rest(e, w.Done); err != nil {
		return nil, err
	}
	firing, err := w.Firing()
	if err != nil {
		return nil, fmt.Errorf("explain: %w%s", err, unfired(o, nth))
	}
	firing.Image, firing.Name = g.Spec.Name, symbolizer(g.Image)
	return firing, nil
}

// unfired says what to do about a probe that has not fired.
func unfired(o guestOptions, nth int) string {
	switch {
	case nth > 1:
		return fmt.Sprintf(" %d times: ask for an earlier --firing", nth)
	case o.command == "":
		return ": give the guest something to do with -c"
	}
	return fmt.Sprintf(" while %q ran: 'trapline dtrace -n kinst::FUNCTION:0' shows what is called", string(o.command))
}

// watch enables the one probe that desc names, with a watcher between it and the machine.
func (g *guest) watch(desc probes.Desc, nth int) (*lesson.Watcher, error) {
	w, err := lesson.NewWatcher(g.machine, nth)
	if err != nil {
		return nil, err
	}
	w.Symbols = sizedFunctions(g.Image)
	set, err := patch.New(w, g.Image.Text, w)
	if err != nil {
		return nil, err
	}
	registry := probes.NewRegistry()
	text := &ktext.Text{Set: set, Symbols: g.Image.Symtab(), Arch: g.Arch(), System: g.OS.System(), Unsafe: g.OS.Unsafe}
	registry.Add(kinst.New(registry, text, nil))
	found, err := registry.Match(desc)
	switch {
	case err != nil:
		return nil, err
	case len(found) != 1:
		return nil, fmt.Errorf("%s matches %d probes: name one instruction, as 'trapline disas %s' shows them",
			desc, len(found), desc.Function)
	}
	return w, registry.Enable(found)
}

// sizedFunctions are the functions that have code, by address.
func sizedFunctions(img *kernel.Image) (all []kernel.Symbol) {
	for _, s := range img.Symtab().Funcs() {
		if s.Func && s.Size > 0 {
			all = append(all, s)
		}
	}
	return all
}

// symbolizer names addresses by the symbols that cover them.
func symbolizer(img *kernel.Image) func(addr uint64) (string, uint64) {
	return func(addr uint64) (string, uint64) {
		if name, ok := img.External(addr); ok {
			return name, addr
		}
		s, ok := img.Symtab().At(addr)
		if !ok || strings.HasPrefix(s.Name, "$") {
			return "", 0
		}
		return s.Name, s.Addr
	}
}
