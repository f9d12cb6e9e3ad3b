package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"trapline/cmd/internal/listing"
	"trapline/kernel"
	"trapline/kernel/source"
	"trapline/trampoline"
)

// sourceDirFlag adds the flag for the directory of source files.
func sourceDirFlag(f *pflag.FlagSet, dir *string) {
	f.StringVar(dir, "source", "", "show the lines of the kernel's source in `DIR`")
}

// A view is what listings of one image have in common.
type view struct {
	image string
	img   *kernel.Image
	isa   *trampoline.ISA
	info  *source.Info // nil without debug information
	files *listing.Files
}

// view opens what listings of the guest's kernel are made of. Lines of source are those in
// dir, or the image's own.
func (g *guest) view(dir string) (view, error) {
	isa, err := trampoline.For(g.Image.Arch())
	if err != nil {
		return view{}, err
	}
	v := view{image: g.Spec.Name, img: g.Image, isa: isa, files: &listing.Files{FS: g.Spec.Source}}
	if dir != "" {
		if _, err := os.Stat(dir); err != nil {
			return v, fmt.Errorf("looking for the source: %w", err)
		}
		v.files.FS = os.DirFS(dir)
	}
	if v.info, err = source.Open(g.Image); errors.Is(err, source.ErrNone) {
		err = nil
	}
	return v, err
}

// listing makes the listing of a function whose bytes text reads.
func (v view) listing(f kernel.Symbol, text func(addr uint64, p []byte) error) (*listing.Listing, error) {
	c := listing.Config{Image: v.image, Function: f, Code: make([]byte, f.Size), Files: v.files, ISA: v.isa, Name: symbolizer(v.img)}
	if err := text(f.Addr, c.Code); err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Name, err)
	}
	if v.info != nil {
		var err error
		if c.Source, err = v.info.Function(f.Addr, f.Size); err != nil {
			return nil, err
		}
	}
	return listing.New(c)
}

// color reports whether to use colours: on a terminal, unless NO_COLOR is set (no-color.org).
func color(out io.Writer) bool {
	return terminal(out) && os.Getenv("NO_COLOR") == ""
}
