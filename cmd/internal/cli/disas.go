package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"trapline/cmd/internal/listing"
	"trapline/insn"
	"trapline/kernel"
	"trapline/trampoline"
)

const disasNotes = `disas shows for each instruction its offset, bytes and text, and how it would be displaced: copy (as
it is), relocate (rewritten for another place), emulate (in steps), guest (a breakpoint of the
guest's own), or refuse, with the reason. With debug information it shows the lines of the source,
too, indented in inlined functions.

FUNCTION may be a pattern: 'vfs_*'. --all means all functions with a size in the symbol table. The
image may be the file of a module: -k helloworld.ko.

--format tsv writes a row for each instruction: symbol, address of the symbol in hex without 0x,
offset, length, plan.
`

// runDisas shows the instructions of functions, and how each would be displaced.
func runDisas(e *env, args []string) error {
	var o guestOptions
	var all bool
	var format, dir, html string
	f := e.newFlags("disas", disasNotes)
	o.imageFlag(f)
	f.BoolVar(&all, "all", false, "list every sized function of the image")
	f.StringVar(&format, "format", "text", "print in `FORMAT`: text or tsv")
	f.StringVar(&html, "html", "", "write a page to `FILE` instead")
	sourceDirFlag(f, &dir)
	o.debugFlag(f)
	if err := parse(f, args); err != nil {
		return err
	}
	if format != "text" && format != "tsv" {
		return usagef("disas: --format %q: it must be text or tsv", format)
	}
	if all == (f.NArg() > 0) || f.NArg() > 1 {
		return usagef("disas: name one FUNCTION, or say --all")
	}
	if html != "" && (all || format != "text") {
		return usagef("disas: --html is for the functions of one name or pattern, without --all and --format")
	}
	k, err := o.openText()
	if err != nil {
		return err
	}
	g := &guest{options: o, Kernel: k}
	defer g.close()
	funcs, err := selected(g.Image, f.Arg(0), all)
	if err != nil {
		return fmt.Errorf("disas: %w", err)
	}
	d, err := newDisas(g.Image, e.stdout)
	if err != nil {
		return err
	}
	if format == "tsv" {
		return d.rows(funcs)
	}
	v, err := g.view(dir)
	if err != nil {
		return err
	}
	if all {
		v.info = nil // the whole kernel's source would be too much
	}
	if html != "" {
		return d.page(html, f.Arg(0), funcs, v)
	}
	return d.text(funcs, v, listing.Style{Color: color(e.stdout)})
}

// selected are all sized functions, or those of one name or pattern.
func selected(img *kernel.Image, name string, all bool) ([]kernel.Symbol, error) {
	from := img.Symtab().Funcs()
	if !all {
		from = img.Symtab().Glob(name)
	}
	var out []kernel.Symbol
	for _, s := range from {
		if s.Func && s.Size > 0 && !(all && s.Label) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, unknownFunction(img, name)
	}
	return out, nil
}

func unknownFunction(img *kernel.Image, name string) error {
	near := img.Symtab().Nearest(name, 3)
	if len(near) == 0 {
		return fmt.Errorf("there is no function %s in %s", name, img.Name())
	}
	return fmt.Errorf("there is no function %s in %s: did you mean %s?", name, img.Name(), strings.Join(near, ", "))
}

// disas writes instructions of an image.
type disas struct {
	img  *kernel.Image
	isa  *trampoline.ISA
	out  *bufio.Writer
	code []byte
}

func newDisas(img *kernel.Image, out io.Writer) (*disas, error) {
	isa, err := trampoline.For(img.Arch())
	return &disas{img: img, isa: isa, out: bufio.NewWriterSize(out, 1<<16)}, err
}

// function goes through the instructions of f. Where its bytes stop being instructions,
// so does it: data in the text, which objdump shows as (bad).
func (d *disas) function(f kernel.Symbol, show func(off, n int, code []byte)) error {
	if uint64(cap(d.code)) < f.Size {
		d.code = make([]byte, f.Size)
	}
	code := d.code[:f.Size]
	if err := d.img.Text(f.Addr, code); err != nil {
		return fmt.Errorf("reading %s: %w", f.Name, err)
	}
	err := d.isa.Walk(code, f.Addr, func(off, n int) bool {
		show(off, n, code[off:])
		return true
	})
	if errors.Is(err, insn.ErrTruncated) || errors.Is(err, insn.ErrUndefined) || errors.Is(err, insn.ErrTooLong) {
		return nil
	}
	return err
}

// rows writes a row for each instruction, millions of them.
func (d *disas) rows(funcs []kernel.Symbol) error {
	var row []byte
	for _, f := range funcs {
		head := fmt.Appendf(nil, "%s\t%x\t", f.Name, f.Addr)
		err := d.function(f, func(off, n int, code []byte) {
			row = strconv.AppendInt(append(row[:0], head...), int64(off), 10)
			row = strconv.AppendInt(append(row, '\t'), int64(n), 10)
			row = append(append(row, '\t'), d.isa.Plan(code, f.Addr+uint64(off)).Kind.String()...)
			d.out.Write(append(row, '\n'))
		})
		if err != nil {
			return err
		}
	}
	return d.out.Flush()
}

// text writes functions for people, with an empty line between two.
func (d *disas) text(funcs []kernel.Symbol, v view, style listing.Style) error {
	for i, f := range funcs {
		if i > 0 {
			fmt.Fprintln(d.out)
		}
		l, err := v.listing(f, d.img.Text)
		if err != nil {
			return err
		}
		if err := l.Text(d.out, style); err != nil {
			return err
		}
	}
	return d.out.Flush()
}

// page writes functions as a page.
func (d *disas) page(file, name string, funcs []kernel.Symbol, v view) error {
	var all []*listing.Listing
	for _, f := range funcs {
		l, err := v.listing(f, d.img.Text)
		if err != nil {
			return err
		}
		all = append(all, l)
	}
	return writeFile(file, func(w io.Writer) error {
		return listing.HTML(w, fmt.Sprintf("%s in %s", name, v.image), all, false)
	})
}
