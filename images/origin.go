package images

import "context"

// An origin says how an image comes into the cache: fetched as Debian's packages,
// or built from Debian's sources.
type origin interface {
	// verb is what brings it: `trapline image VERB`.
	verb() string
	// needs says in one line what the host lacks.
	needs(ctx context.Context) error
	// recipe changes when the same sources would give another image.
	recipe(ctx context.Context) (string, error)
	// make makes the whole image in the directory tmp/image.
	make(ctx context.Context, s Store, tmp, name string, p Progress) error
	// place fills in the paths of an image that is in dir.
	place(spec *Spec, dir string)
	// makeTree makes, in out, what modules for the image are built with; tmp and debs are
	// directories to work in, image is where the image is.
	makeTree(ctx context.Context, s Store, m manifest, image, tmp, debs, out string, p Progress) error
	// tree is such a tree in dir.
	tree(m manifest, dir string) (tree, error)
	// initrd is the root file system of the image in dir, one of the store's.
	initrd(s Store, dir string) (Initrd, error)
}

// states are what an image of an origin can be called, with and without its files.
func states(o origin) (with, without State) {
	if o.verb() == "build" {
		return Built, NotBuilt
	}
	return Fetched, NotFetched
}
