package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"trapline/images"
	"trapline/kernel"
	"trapline/trampoline"
)

// runDisas shows the instructions of functions, and how each would be displaced.
func runDisas(e *env, args []string) error {
	var o guestOptions
	var all bool
	var format string
	f := e.newFlags("disas")
	o.imageFlag(f)
	f.StringVar(&o.debugFile, "debug-file", "", "ELF `FILE` with the kernel's symbols")
	f.BoolVar(&all, "all", false, "every sized function of the image")
	f.StringVar(&format, "format", "text", "text or tsv: symbol, its address, offset, length, plan")
	if err := parse(f, args); err != nil {
		return err
	}
	if format != "text" && format != "tsv" {
		return usagef("disas: --format %q: it must be text or tsv", format)
	}
	if all == (f.NArg() > 0) || f.NArg() > 1 {
		return usagef("disas: name one FUNCTION, or say --all")
	}
	img, err := openImage(o)
	if err != nil {
		return err
	}
	defer img.Close()
	d, err := newDisas(img, e.stdout)
	if err != nil {
		return err
	}
	funcs := img.Symtab().Funcs()
	if !all {
		if funcs, err = find(img, f.Arg(0)); err != nil {
			return err
		}
	}
	return d.functions(funcs, format == "tsv")
}

// openImage opens the symbols of an image without a machine.
func openImage(o guestOptions) (*kernel.Image, error) {
	g := &guest{options: o}
	var err error
	if g.spec, err = (images.Store{}).Open(o.image); err != nil {
		return nil, err
	}
	file, err := g.kernelFile()
	if err != nil {
		return nil, err
	}
	if err := g.openSymbols(file, true); err != nil {
		return nil, err
	}
	return g.image, nil
}

// find looks a function up, all of that name, or by a glob.
func find(img *kernel.Image, name string) ([]kernel.Symbol, error) {
	var out []kernel.Symbol
	for _, s := range img.Symtab().Glob(name) {
		if s.Func && s.Size > 0 {
			out = append(out, s)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	near := img.Symtab().Nearest(name, 3)
	if len(near) == 0 {
		return nil, fmt.Errorf("disas: there is no function %s in %s", name, img.Name())
	}
	return nil, fmt.Errorf("disas: there is no function %s in %s: did you mean %s?", name, img.Name(), strings.Join(near, ", "))
}

// disas writes instructions of an image.
type disas struct {
	img *kernel.Image
	isa *trampoline.ISA
	out *bufio.Writer
}

func newDisas(img *kernel.Image, out io.Writer) (*disas, error) {
	isa, err := trampoline.For(img.Arch())
	return &disas{img, isa, bufio.NewWriterSize(out, 1<<16)}, err
}

func (d *disas) functions(funcs []kernel.Symbol, rows bool) error {
	show := d.text
	if rows {
		show = d.row
	}
	for i, f := range funcs {
		if f.Size == 0 {
			continue
		}
		if !rows {
			if i > 0 {
				fmt.Fprintln(d.out)
			}
			fmt.Fprintf(d.out, "%s: %d bytes at 0x%x\n", f.Name, f.Size, f.Addr)
		}
		if err := d.function(f, show); err != nil {
			return err
		}
	}
	return d.out.Flush()
}

// function shows each instruction of f. Where its bytes stop being instructions, so does
// the listing.
func (d *disas) function(f kernel.Symbol, show func(f kernel.Symbol, off, n int, code []byte)) error {
	code := make([]byte, f.Size)
	if err := d.img.Text(f.Addr, code); err != nil {
		return fmt.Errorf("reading %s: %w", f.Name, err)
	}
	err := trampoline.Walk(d.isa, code, f.Addr, func(off, n int) bool {
		show(f, off, n, code[off:])
		return true
	})
	if errors.Is(err, trampoline.ErrTruncated) || errors.Is(err, trampoline.ErrUndefined) || errors.Is(err, trampoline.ErrTooLong) {
		return nil // data in the text, as objdump shows it as (bad)
	}
	return err
}

func (d *disas) row(f kernel.Symbol, off, n int, code []byte) {
	p := d.isa.Plan(code, f.Addr+uint64(off))
	fmt.Fprintf(d.out, "%s\t%x\t%d\t%d\t%s\n", f.Name, f.Addr, off, n, p.Kind)
}

func (d *disas) text(f kernel.Symbol, off, n int, code []byte) {
	pc := f.Addr + uint64(off)
	p := d.isa.Plan(code, pc)
	plan := p.Kind.String()
	if p.Kind == trampoline.Refuse {
		plan += ": " + p.Reason()
	}
	fmt.Fprintf(d.out, "%6d  %-30x  %-48s  %s\n", off, code[:n], d.isa.Text(code, pc, d.symbol), plan)
}

func (d *disas) symbol(addr uint64) (string, uint64) {
	s, ok := d.img.Symtab().At(addr)
	if !ok {
		return "", 0
	}
	return s.Name, s.Addr
}
