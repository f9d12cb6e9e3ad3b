package cli

import (
	"fmt"
	"text/tabwriter"

	"trapline/images"
)

// runImage lists, fetches and describes images.
func runImage(e *env, args []string) error {
	f := e.newFlags("image", `  ls                list the images, and whether they are in the cache
  get IMAGE         fetch an image into $XDG_CACHE_HOME/trapline, or check it if it is there
  build IMAGE       the same for an image that is compiled here from Debian's sources, in minutes
  build-module DIR  build the loadable module in DIR for the kernel of -k
  info IMAGE        show where an image comes from and what it consists of
  rm TREE           remove one of the trees that 'ls' shows, in which modules are built
`)
	from := f.String("from", "", "get: take the release's MANIFEST and sets from `DIR`")
	again := f.Bool("again", false, "get, build: fetch the newest version even if there is one")
	kernel := f.StringP("image", "k", defaultImage(), "build-module: build for the kernel of `IMAGE`")
	if err := parse(f, args); err != nil {
		return err
	}
	switch verb, rest := f.Arg(0), max(0, f.NArg()-1); {
	case verb == "ls" && rest == 0:
		return e.listImages()
	case verb == "get" && rest == 1:
		return e.getImage(f.Arg(1), *from, *again)
	case verb == "build" && rest == 1:
		return e.buildImage(f.Arg(1), *again)
	case verb == "build-module" && rest == 1:
		return e.buildModule(*kernel, f.Arg(1))
	case verb == "info" && rest == 1:
		return e.showImage(f.Arg(1))
	case verb == "rm" && rest == 1:
		return (images.Store{}).RemoveTree(e.ctx, f.Arg(1), e.progress())
	}
	return usagef("image: say one of: ls, get IMAGE, build IMAGE, build-module DIR, info IMAGE, rm TREE")
}

// listImages lists the images, and below them the trees of those that modules have been built for.
func (e *env) listImages() error {
	w := tabwriter.NewWriter(e.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "IMAGE\tSTATE\tVERSION\tDESCRIPTION")
	for _, s := range (images.Store{}).List() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, s.State, orDash(s.Version), s.Description)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	trees, err := (images.Store{}).Trees()
	if err != nil || len(trees) == 0 {
		return err
	}
	fmt.Fprintln(w, "\nTREE\tSIZE")
	for _, t := range trees {
		fmt.Fprintf(w, "%s\t%d MiB\n", t.Name, (t.Size+1<<20-1)>>20)
	}
	return w.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (e *env) getImage(name, from string, again bool) error {
	store := images.Store{From: from}
	get := store.Get
	if again {
		get = store.Refetch
	}
	err := get(e.ctx, name, e.progress())
	if err != nil && e.ctx.Err() != nil {
		return &exit{statusSignal, err}
	}
	if err != nil {
		return nearestImage(name, err)
	}
	s, err := store.Lookup(name)
	if err == nil {
		fmt.Fprintf(e.stdout, "%s %s %s\n", s.Name, s.State, orDash(s.Version))
	}
	return err
}

func (e *env) showImage(name string) error {
	s, err := (images.Store{}).Lookup(name)
	if err != nil {
		return nearestImage(name, err)
	}
	w := tabwriter.NewWriter(e.stdout, 0, 8, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, value)
		}
	}
	row("name", s.Name)
	row("description", s.Description)
	row("state", string(s.State))
	row("problem", s.Problem)
	row("version", s.Version)
	row("release", s.Release)
	row("memory", fmt.Sprintf("%d MiB", s.Memory>>20))
	row("command line", s.Append)
	row("kernel", s.Kernel)
	row("compressed", s.Compressed)
	row("debug file", s.DebugFile)
	for _, p := range s.Packages {
		row("package", p.Name+" "+p.Version)
	}
	for _, x := range s.Files {
		row("file", fmt.Sprintf("%s, %d bytes, sha256 %s", x.Name, x.Size, x.SHA256))
	}
	return w.Flush()
}
