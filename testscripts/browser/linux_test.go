//go:build browser && linuximage

package browser

import (
	"os"
	"path/filepath"
	"testing"

	"trapline/images"
	"trapline/kernel"
)

// What trapline writes of Debian's kernel: its largest function, and flames of many stacks.
func TestLinuxPages(t *testing.T) {
	user, err := (images.Store{}).Path()
	if err != nil {
		t.Fatal(err)
	}
	spec, err := images.Store{}.Lookup("debian/amd64")
	if err != nil || spec.Kernel == "" {
		t.Fatal("debian/amd64 is not there: run make linux: ", err)
	}
	largest := largestFunction(t, spec.Kernel)
	t.Log("the largest function is ", largest)
	cache := t.TempDir() // for snapshots of its own
	t.Setenv("XDG_CACHE_HOME", cache)
	if err := os.Mkdir(filepath.Join(cache, "trapline"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(user, "images"), filepath.Join(cache, "trapline", "images")); err != nil {
		t.Fatal(err)
	}
	open(t, []page{
		{"largest.html", []string{"annotate", "-k", "debian/amd64", largest, "-c", "true", "--html", "$FILE"}, nil},
		{"annotate.html", []string{"annotate", "-k", "debian/amd64", "vfs_read", "-c", "ls /", "--html", "$FILE"}, readListing},
		{"explain.html", []string{"explain", "-k", "debian/amd64", "vfs_read:0", "-c", "ls /", "--html", "$FILE"}, nil},
		{"flame.svg", []string{"flame", "-k", "debian/amd64", "-c", "ls -l /usr /bin", "-n", "profile-10us { @[execname, stack()] = count(); }", "--svg", "$FILE"}, nil},
	})
}

// largestFunction is the name of the function with the most bytes.
func largestFunction(t *testing.T, path string) string {
	img, err := kernel.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	var most kernel.Symbol
	for _, s := range img.Symtab().Funcs() {
		if s.Func && !s.Label && s.Size > most.Size {
			most = s
		}
	}
	return most.Name
}
