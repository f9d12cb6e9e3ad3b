package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// Debian's own sites: of its present releases, of the former ones, and of every day.
var public = []string{
	"http://deb.debian.org/debian",
	"http://archive.debian.org/debian",
	"http://snapshot.debian.org/archive/debian/20240701T000000Z",
}

// aptHelper downloads as the host's apt does: by its proxies, its mirrors and its certificates.
const aptHelper = "/usr/lib/apt/apt-helper"

// sites are where packages are looked for, in their order.
func sites() []string {
	if site := os.Getenv("DEBIAN_SITE"); site != "" {
		return []string{site}
	}
	var list []string
	out, err := exec.Command("apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian", "Label: Debian").Output()
	if site, _, ok := strings.Cut(string(out), "\n"); err == nil && ok && strings.HasPrefix(site, "http") {
		list = append(list, site)
	}
	return append(list, public...)
}

// fetch puts the package into dir, from the first site that has it.
func fetch(dir string, sites []string, p pin) (file string, err error) {
	file = filepath.Join(dir, path.Base(p.path))
	fmt.Fprintln(os.Stderr, "fetching", path.Base(p.path))
	for _, site := range sites {
		why := download(strings.TrimSuffix(site, "/")+"/"+p.path, file)
		if why == nil {
			why = check(file, p.sha256)
		}
		if why == nil {
			return file, nil
		}
		err = errors.Join(err, fmt.Errorf("%s: %w", site, why))
	}
	lines := strings.ReplaceAll(err.Error(), "\n", "; ")
	return "", fmt.Errorf("fetching %s: %s (DEBIAN_SITE names another mirror of Debian)", path.Base(p.path), lines)
}

func download(url, file string) error {
	if _, err := os.Stat(aptHelper); err == nil {
		cmd := exec.Command(aptHelper, "-qq", "-o", "APT::Sandbox::User=root", "download-file", url, file)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, firstError(string(out)))
		}
		return nil
	}
	r, err := http.Get(url)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return errors.New(r.Status)
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r.Body)
	return errors.Join(err, f.Close())
}

// firstError returns what a program of apt's says went wrong.
func firstError(out string) string {
	for line := range strings.Lines(out) {
		if why, ok := strings.CutPrefix(line, "E: "); ok {
			return strings.TrimSpace(why)
		}
	}
	return strings.TrimSpace(out)
}

func check(file, want string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if have := hex.EncodeToString(h.Sum(nil)); have != want {
		return fmt.Errorf("its SHA-256 is %s (want %s)", have, want)
	}
	return nil
}
