package images

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	archive "trapline/images/debian"
	"trapline/images/debian/debiantest"
)

const (
	fakeRelease = "6.9.0-1-cloud-amd64"
	fakeVersion = "6.9.1-1"
)

// A fakeDebian is a host with an apt of ours on its PATH: an archive of tiny
// packages, and files that make the tools behave in the ways of real ones.
type fakeDebian struct {
	t   *testing.T
	dir string
}

// newFakeDebian makes a Debian and puts its tools first on the PATH of this test.
func newFakeDebian(t *testing.T) fakeDebian {
	t.Helper()
	d := fakeDebian{t, t.TempDir()}
	for _, sub := range []string{"bin", "pool"} {
		if err := os.Mkdir(filepath.Join(d.dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.script("apt-cache", fakeAptCache)
	d.script("apt-get", fakeAptGet)
	d.publish(fakeRelease, fakeVersion)
	t.Setenv("PATH", filepath.Join(d.dir, "bin")+":"+os.Getenv("PATH"))
	t.Setenv("FAKE", d.dir)
	t.Setenv(archive.SiteVariable, "")
	return d
}

// Both tools append their arguments to the file log. With own lists (an option
// Dir::State) they use lists that "update" has copied from the archive; of which servers is in
// the file sources. The host's servers are in the file targets.
const fakeAptCache = `#!/bin/sh
echo "apt-cache $*" >> "$FAKE/log"
lists=$FAKE/lists
case "$*" in
*Dir::State=*) lists=$FAKE/own-lists ;;
*:arm64*) lists=$FAKE/none ;; # the host is of another architecture
esac
if ! test -e "$lists"; then
	echo "N: Unable to locate package" >&2
	echo "E: No packages found" >&2
	exit 100
fi
cat "$lists"
`

const fakeAptGet = `#!/bin/sh
echo "apt-get $*" >> "$FAKE/log"
if test -e "$FAKE/fail"; then
	cat "$FAKE/fail" >&2
	exit 100
fi
case "$*" in
indextargets*)
	cat "$FAKE/targets"
	exit ;;
*update)
	for option; do
		case "$option" in Dir::Etc::SourceParts=*) cat "${option#*=}"/* > "$FAKE/sources" ;; esac
	done
	cp "$FAKE/archive" "$FAKE/own-lists"
	exit 0 ;;
*" source "*)
	printf 'Source: busybox\nVersion: 1:1.35.0-4\n' > busybox_1.35.0-4.dsc
	exit 0
esac
for arg; do
	case "$arg" in
	*:*64=*)
		name=${arg%%:*} version=${arg#*=} arch=${arg#*:}
		deb=$FAKE/pool/${name}_${version}_${arch%%=*}.deb
		if ! test -e "$deb"; then
			echo "E: Failed to fetch http://pool/$name.deb  404  Not Found" >&2
			exit 100
		fi
		head -c 100 "$deb" > "${deb##*/}"
		if test -e "$FAKE/slow"; then
			echo $$ > "$FAKE/pid"
			exec sleep 60
		fi
		cp "$deb" .
	esac
done
`

func (d fakeDebian) script(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, "bin", name), []byte(text), 0o755); err != nil {
		d.t.Fatal(err)
	}
}

// write gives a file of the fake host its text.
func (d fakeDebian) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

func (d fakeDebian) remove(name string) { os.Remove(filepath.Join(d.dir, name)) }

// log returns what was called since the last time.
func (d fakeDebian) log() string {
	text, _ := os.ReadFile(filepath.Join(d.dir, "log"))
	d.remove("log")
	return string(text)
}

// downloads counts the downloads in what was called.
func downloads(log string) int { return strings.Count(log, " download ") }

// publish makes the packages of a kernel the newest of the archive, and the host's
// lists up to date.
func (d fakeDebian) publish(release, version string) {
	d.t.Helper()
	d.publishFor("amd64", release, version)
}

// publishFor is publish for another architecture.
func (d fakeDebian) publishFor(arch, release, version string) {
	d.t.Helper()
	stanzas := fmt.Sprintf("Package: linux-image-cloud-%s\nVersion: %s\nDepends: linux-image-%s (= %s)\nDescription: meta\n more: text\n\n",
		arch, version, release, version)
	stanzas += d.deb(arch, "busybox-static", "1.0-1", map[string][]byte{
		"bin/busybox":     fakeProgram(d.t, arch),
		"usr/share/large": bytes.Repeat([]byte("x"), 1<<16),
	})
	stanzas += d.deb(arch, "linux-image-"+release, "0.1", nil) // an older one of the same name
	stanzas += d.deb(arch, "linux-image-"+release, version, map[string][]byte{
		"boot/vmlinuz-" + release:    []byte("MZ compressed kernel " + version),
		"boot/config-" + release:     []byte("CONFIG_FAKE=y\n"),
		"boot/System.map-" + release: []byte("the real one is elsewhere\n"),
	})
	stanzas += d.deb(arch, "linux-image-"+release+"-dbg", version, map[string][]byte{
		"usr/lib/debug/boot/System.map-" + release:           []byte("0000 T start\n"),
		"usr/lib/debug/boot/vmlinux-" + release:              append([]byte("\x7fELF kernel "), make([]byte, 100_000)...),
		"usr/lib/debug/lib/modules/" + release + "/fake.ko":  bytes.Repeat([]byte("module"), 100_000),
		"usr/lib/debug/lib/modules/" + release + "/other.ko": bytes.Repeat([]byte("module"), 100_000),
	})
	d.write("archive", stanzas)
	d.write("lists", stanzas)
}

// deb puts a package into the archive and returns its entry of the lists.
func (d fakeDebian) deb(arch, name, version string, files map[string][]byte) string {
	d.t.Helper()
	deb := filepath.Join(d.dir, "pool", fmt.Sprintf("%s_%s_%s.deb", name, version, arch))
	if err := os.WriteFile(deb, debiantest.Deb(d.t, ".xz", files), 0o644); err != nil {
		d.t.Fatal(err)
	}
	return stanzaOf(d.t, name, version, deb)
}

// fakeProgram is a static ELF program.
func fakeProgram(t *testing.T, arch string) []byte {
	t.Helper()
	p, err := os.ReadFile("init/init-" + arch)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stanzaOf is the entry of the lists for a .deb file.
func stanzaOf(t *testing.T, name, version, deb string) string {
	t.Helper()
	data, err := os.ReadFile(deb)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("Package: %s\nVersion: %s\nFilename: pool/%s\nSize: %d\nSHA256: %x\n\n",
		name, version, filepath.Base(deb), len(data), sha256.Sum256(data))
}

// replace exchanges the entry of a package in the lists.
func (d fakeDebian) replace(name, version, entry string) {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, "lists"))
	if err != nil {
		d.t.Fatal(err)
	}
	stanzas := strings.SplitAfter(string(text), "\n\n")
	for i, st := range stanzas {
		if strings.HasPrefix(st, fmt.Sprintf("Package: %s\nVersion: %s\n", name, version)) {
			stanzas[i] = entry
		}
	}
	d.write("lists", strings.Join(stanzas, ""))
	d.write("archive", strings.Join(stanzas, ""))
}
