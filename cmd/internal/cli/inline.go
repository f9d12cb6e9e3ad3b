package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"

	"trapline/kernel/debuginfo"
	"trapline/kernel/guestos"
	"trapline/probes/copies"
)

const inlineNotes = `FUNCTION may be a pattern: 'atomic_*'. inline writes a line for each inlined copy: the kinst probes of
its entry and its returns, where it is called from in the source and through which inlined
functions, and its pieces of code. A return in the function of the entry has its offset alone. A
copy without code of its own has no probes, and neither has what the compiler has split off a
function and inlined into it again.

The image may be the file of a module: -k helloworld.ko.

--format json writes an object for each function, each on a line of its own.
`

// runInline shows the inlined copies of functions.
func runInline(e *env, args []string) error {
	var o guestOptions
	var format string
	f := e.newFlags("inline", inlineNotes)
	o.imageFlag(f)
	f.StringVar(&format, "format", "text", "print in `FORMAT`: text or json")
	o.debugFlag(f)
	if err := parse(f, args); err != nil {
		return err
	}
	if format != "text" && format != "json" {
		return usagef("inline: --format %q: it must be text or json", format)
	}
	if f.NArg() != 1 {
		return usagef("inline: name one FUNCTION")
	}
	// What is read of a kernel is needed to the end: looking for garbage in it meanwhile takes as
	// long as the answer. Making an index stays below the limit.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(768 << 20)
	k, err := o.openText()
	if err != nil {
		return err
	}
	g := &guest{options: o, Kernel: k}
	defer g.close()
	list, err := g.inlined(e, f.Arg(0))
	if err != nil {
		return err
	}
	out := bufio.NewWriter(e.stdout)
	show := inlinedText
	if format == "json" {
		show = inlinedJSON
	}
	for i := range list {
		show(out, &list[i], i == 0)
	}
	return out.Flush()
}

// inlinedFunction is what the command shows of a function.
type inlinedFunction struct {
	Function string       `json:"function"`
	Regular  bool         `json:"regular"`
	Copies   []inlineCopy `json:"copies"`
}

// An inlineCopy is what it shows of a copy. Caller is the symbol that Entry and Returns
// count from; without code there is no Entry. Probes are the returns as kinst has them.
type inlineCopy struct {
	Module   string      `json:"module"`
	Caller   string      `json:"caller"`
	Ranges   [][2]string `json:"ranges"`
	Entry    *uint64     `json:"entry"`
	Returns  []int64     `json:"returns"`
	Probes   []string    `json:"return_probes"`
	CallFile string      `json:"call_file"`
	CallLine int         `json:"call_line"`
	Depth    int         `json:"depth"`
	chain    []string
}

// inlined finds the functions of a name or pattern. Of a pattern those are left out that
// are inlined nowhere.
func (g *guest) inlined(e *env, pattern string) ([]inlinedFunction, error) {
	x, err := g.debug(e).Functions()
	if err != nil {
		return nil, err
	}
	names := []string{pattern}
	if strings.ContainsAny(pattern, "*?[") {
		names = x.Glob(pattern)
	}
	sites, err := copies.New(g.Image)
	if err != nil {
		return nil, err
	}
	var all []inlinedFunction
	for _, name := range names {
		f, _ := x.Function(name)
		if len(f.Copies) > 0 || len(f.Regular) > 0 && len(names) == 1 {
			all = append(all, newInlined(sites, f, cmp.Or(g.Image.Module(), guestos.Of(g.Image.Symtab()).Module.Name)))
		}
	}
	if len(all) == 0 {
		return nil, g.notInlined(x, pattern)
	}
	return all, nil
}

func (g *guest) notInlined(x *debuginfo.Index, name string) error {
	switch near := x.Nearest(name, 3); {
	case len(near) == 0:
		return fmt.Errorf("inline: there is no function %s in %s", name, g.Image.Name())
	case near[0] == name:
		return fmt.Errorf("inline: %s has no code in %s", name, g.Image.Name())
	default:
		return fmt.Errorf("inline: there is no function %s in %s: did you mean %s?", name, g.Image.Name(), strings.Join(near, ", "))
	}
}

func newInlined(sites *copies.Finder, f debuginfo.Function, module string) inlinedFunction {
	out := inlinedFunction{f.Name, len(f.Regular) > 0, make([]inlineCopy, 0, len(f.Copies))}
	for _, c := range f.Copies {
		out.Copies = append(out.Copies, newInlineCopy(sites, c, module))
	}
	return out
}

func newInlineCopy(sites *copies.Finder, c debuginfo.Copy, module string) inlineCopy {
	out := inlineCopy{
		Module: module, Caller: c.Caller, Ranges: make([][2]string, len(c.Ranges)), Returns: []int64{}, Probes: []string{},
		CallFile: c.CallFile, CallLine: c.CallLine, Depth: c.Depth, chain: c.Chain,
	}
	for i, r := range c.Ranges {
		out.Ranges[i] = [2]string{fmt.Sprintf("%#x", r.Lo), fmt.Sprintf("%#x", r.Hi)}
	}
	s := sites.Find(c)
	if s.Entry == nil {
		return out
	}
	out.Caller, out.Entry = s.Entry.Symbol, &s.Entry.Offset
	for _, r := range s.Returns {
		out.Returns = append(out.Returns, int64(r.Addr-s.Entry.Addr+s.Entry.Offset))
		out.Probes = append(out.Probes, r.Symbol+":"+r.Name())
	}
	out.Returns = slices.Compact(out.Returns)
	return out
}

func inlinedJSON(out io.Writer, f *inlinedFunction, _ bool) {
	json.NewEncoder(out).Encode(f)
}

// inlinedText writes a function for people, with an empty line before all but the first.
func inlinedText(out io.Writer, f *inlinedFunction, first bool) {
	if !first {
		fmt.Fprintln(out)
	}
	regular := "no definition of its own"
	if f.Regular {
		regular = "and a definition of its own"
	}
	fmt.Fprintf(out, "%s: %d inlined, %s\n", f.Function, len(f.Copies), regular)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, c := range f.Copies {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", c.probe(), c.returns(), c.from(), c.pieces())
	}
	w.Flush()
}

// probe is what kinst calls the entry.
func (c *inlineCopy) probe() string {
	if c.Entry == nil {
		return c.Caller + ":-"
	}
	return fmt.Sprintf("%s:%d", c.Caller, *c.Entry)
}

// returns are its returns, without the name of the function if they are in the same.
func (c *inlineCopy) returns() string {
	short := make([]string, len(c.Probes))
	for i, p := range c.Probes {
		short[i] = strings.TrimPrefix(p, c.Caller+":")
	}
	if len(short) == 0 {
		return "-"
	}
	return strings.Join(short, " ")
}

// from is the call in the source.
func (c *inlineCopy) from() string {
	text := fmt.Sprintf("%s:%d", c.CallFile, c.CallLine)
	if len(c.chain) > 0 {
		text += " in " + strings.Join(c.chain, " > ")
	}
	return text
}

func (c *inlineCopy) pieces() string {
	text := make([]string, len(c.Ranges))
	for i, r := range c.Ranges {
		text[i] = r[0] + "-" + r[1]
	}
	if len(text) == 0 {
		return "no code"
	}
	return strings.Join(text, " ")
}
