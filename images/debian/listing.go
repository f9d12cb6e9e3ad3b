package debian

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"trapline/images/job"
)

// A Listing is one version of a package, as the lists have it.
type Listing struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Size    int64  `json:"size"`   // bytes of the .deb file
	SHA256  string `json:"sha256"` // of the .deb file, in hex
}

// Choose returns the package of that name and, unless it is empty, that version.
func Choose(stanzas []map[string]string, name, version string) (Listing, error) {
	for _, st := range stanzas {
		if st["Package"] != name || version != "" && st["Version"] != version {
			continue
		}
		size, err := strconv.ParseInt(st["Size"], 10, 64)
		if err != nil || len(st["SHA256"]) != 64 {
			return Listing{}, fmt.Errorf("package %s has no size or no SHA-256 in Debian's lists", name)
		}
		return Listing{name, st["Version"], size, strings.ToLower(st["SHA256"])}, nil
	}
	return Listing{}, fmt.Errorf("package %s is not in Debian's lists", strings.TrimSpace(name+" "+version))
}

// In finds the file of a package that was downloaded into dir.
func (pkg Listing) In(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, pkg.Name+"_*.deb"))
	if err == nil && len(files) != 1 {
		err = fmt.Errorf("package %s was not downloaded", pkg.Name)
	}
	if err != nil {
		return "", err
	}
	return files[0], nil
}

// Check compares the file of a package with what Debian's signed lists say of it.
func (pkg Listing) Check(ctx context.Context, deb string, p job.Progress) error {
	p.Start("checking "+pkg.Name, pkg.Size)
	defer p.Done()
	sum, err := job.Hash(ctx, deb, p)
	if err == nil && sum != pkg.SHA256 {
		err = fmt.Errorf("package %s was damaged on its way: its SHA-256 begins with %.12s instead of %.12s", pkg.Name, sum, pkg.SHA256)
	}
	return err
}
