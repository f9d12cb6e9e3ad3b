//go:build linuximage

package testscripts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"trapline/images"
)

// TestLinux runs the scripts that need Debian's kernel. Images are those of the user's
// cache; snapshots are each script's own.
func TestLinux(t *testing.T) {
	var store images.Store
	spec, err := store.Lookup("debian/amd64")
	if err != nil {
		t.Fatal(err)
	}
	if spec.State != images.Fetched {
		t.Fatalf("%s is %s: run make linux", spec.Name, spec.State)
	}
	cache, err := store.Path()
	if err != nil {
		t.Fatal(err)
	}
	runScripts(t, "linux", func(env *testscript.Env) error {
		env.Setenv("VMLINUX", spec.Kernel)
		env.Setenv("VMLINUZ", spec.Compressed)
		own := ownCache(env)
		if err := os.MkdirAll(own, 0o777); err != nil {
			return err
		}
		return os.Symlink(filepath.Join(cache, "images"), filepath.Join(own, "images"))
	})
}
