//go:build linuximage

package testscripts

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"trapline/images"
	"trapline/kernel/arch"
)

// TestLinux runs the scripts that need Linux. Images are those of the user's cache; snapshots
// are each script's own.
func TestLinux(t *testing.T) { runScripts(t, "linux", linuxSetup(t, linuxImages)) }

func linuxSetup(t *testing.T, names map[*arch.Arch]string) func(*arch.Arch, *testscript.Env) error {
	return func(a *arch.Arch, env *testscript.Env) error {
		spec := ready(t, names[a])
		env.Setenv("TRAPLINE_IMAGE", spec.Name)
		env.Setenv("VMLINUX", spec.Kernel)
		env.Setenv("VMLINUZ", spec.Compressed)
		return linkImages(ownCache(env))
	}
}

// linuxImages are what the scripts run on.
var linuxImages = map[*arch.Arch]string{arch.AMD64: "debian/amd64", arch.ARM64: "debian/arm64", arch.RISCV64: "linux/riscv64"}

// TestLinuxExamples runs the command in the comment of each of examples/linux and compares its
// standard output with the file beside, if the kernel is the version that they are of.
func TestLinuxExamples(t *testing.T) {
	version := ready(t, "debian/amd64").Version
	list, err := os.ReadFile("../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	same := strings.Contains(string(list), "`"+version+"`")
	if !same {
		t.Logf("debian/amd64 is %s, of which examples/README.md does not speak: what is printed is not compared", version)
	}
	cache := t.TempDir()
	if err := linkImages(filepath.Join(cache, "trapline")); err != nil {
		t.Fatal(err)
	}
	for _, file := range glob(t, "../examples/linux/*.d") {
		name := strings.TrimSuffix(filepath.Base(file), ".d")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trap, hook := runExample(t, file, cache, "trap"), runExample(t, file, cache, "hook")
			checkOutput(t, trap, strings.TrimSuffix(file, ".d")+".out", same)
			if diff := cmp.Diff(string(trap), string(hook)); diff != "" {
				t.Errorf("the engines differ (-trap +hook):\n%s", diff)
			}
		})
	}
}

// TestLinuxDocs runs the commands in the documents that need Debian's kernel.
func TestLinuxDocs(t *testing.T) {
	ready(t, "debian/amd64")
	cache := t.TempDir()
	if err := linkImages(filepath.Join(cache, "trapline")); err != nil {
		t.Fatal(err)
	}
	runDocs(t, cache, func(command string) bool {
		return strings.Contains(command, "debian/amd64") && !strings.Contains(command, "image get")
	})
}

// runExample returns what the command of an example prints with an engine.
func runExample(t *testing.T, file, cache, engine string) []byte {
	command := strings.Replace(exampleCommand(t, file), "trapline dtrace ", "trapline dtrace -x engine="+engine+" ", 1)
	sh := exec.Command("sh", "-c", command)
	sh.Dir = ".."
	sh.Env = append(os.Environ(), "XDG_CACHE_HOME="+cache, "XDG_STATE_HOME="+cache)
	var stdout, stderr bytes.Buffer
	sh.Stdout, sh.Stderr = &stdout, &stderr
	// The status is the guest's command's, which may fail, but a message of ours has no excuse.
	err := sh.Run()
	for _, problem := range []string{"failed to", "drop", "trapline:"} {
		if strings.Contains(stderr.String(), problem) {
			t.Fatalf("%v\n%s", err, &stderr)
		}
	}
	return stdout.Bytes()
}

func checkOutput(t *testing.T, have []byte, file string, same bool) {
	switch want, err := os.ReadFile(file); {
	case len(have) == 0:
		t.Error("nothing was printed")
	case !same && *update:
		t.Errorf("examples/README.md should have the version that %s is of", file)
	case !same || bytes.Equal(have, want):
	case *update:
		if err := os.WriteFile(file, have, 0o666); err != nil {
			t.Error(err)
		}
	case err != nil:
		t.Error(err)
	default:
		t.Errorf("%s (-want +have):\n%s", file, cmp.Diff(string(want), string(have)))
	}
}

// ready is an image that has been fetched or built.
func ready(t *testing.T, name string) images.Spec {
	spec, err := images.Store{}.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	if spec.State != images.Fetched && spec.State != images.Built {
		t.Fatalf("%s is %s: run make linux", spec.Name, spec.State)
	}
	return spec
}

// linkImages makes a cache with the user's images, and no snapshots.
func linkImages(cache string) error {
	user, err := (images.Store{}).Path()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return err
	}
	for _, name := range []string{"images", "trees"} {
		if err := os.MkdirAll(filepath.Join(user, name), 0o777); err != nil {
			return err
		}
		if err := os.Symlink(filepath.Join(user, name), filepath.Join(cache, name)); err != nil {
			return err
		}
	}
	return nil
}
