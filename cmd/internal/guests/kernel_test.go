package guests

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"trapline/images/tiny"
	"trapline/kernel/arch"
	"trapline/kernel/guestos"
)

// userKernel is a copy of tiny's kernel in a file.
func userKernel(t *testing.T) (path string, data []byte) {
	t.Helper()
	data, err := tiny.Kernel("amd64")
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "kernel")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, data
}

func TestOpenKernel(t *testing.T) {
	path, _ := userKernel(t)
	for _, image := range []string{"tiny/amd64", path} {
		k, err := OpenKernel(Config{Image: image, Symbols: true})
		if err != nil {
			t.Fatal(err)
		}
		if known := image == "tiny/amd64"; (k.System == guestos.Tiny) != known {
			t.Errorf("%s: before its symbols are looked at: %+v", image, k.System)
		}
		if err := k.Detect(); err != nil {
			t.Fatal(err)
		}
		if k.Arch() != arch.AMD64 || k.System != guestos.Tiny || k.OS.System() != guestos.Tiny || k.Needs() != nil {
			t.Errorf("%s: %s, %+v", image, k.Arch(), k.System)
		}
		k.Close()
	}
	if _, err := OpenKernel(Config{Image: "tiny/nosuch"}); err == nil {
		t.Error("there is an image tiny/nosuch")
	}
}

// TestDigest: the digest is the kernel's, whatever else has been opened since.
func TestDigest(t *testing.T) {
	path, data := userKernel(t)
	k, err := OpenKernel(Config{Image: path})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(disk, make([]byte, 512), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.OpenFile(disk); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Digest(); err != nil || got != sha256.Sum256(data) {
		t.Errorf("digest %x, %v: not the kernel's", got, err)
	}
}
