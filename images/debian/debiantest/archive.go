// Package debiantest makes archives like Debian's, on a server of the test and signed with a key
// of the test.
package debiantest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// Day is when archives are made, unless they say otherwise.
var Day = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// A Key signs archives.
type Key struct {
	t      testing.TB
	entity *openpgp.Entity
}

// NewKey makes a key that is valid from a year before Day for a time, for ever if that is 0.
func NewKey(t testing.TB, lifetime time.Duration) Key {
	t.Helper()
	config := &packet.Config{
		Algorithm:       packet.PubKeyAlgoEdDSA,
		Time:            func() time.Time { return Day.AddDate(-1, 0, 0) },
		KeyLifetimeSecs: uint32(lifetime / time.Second),
	}
	entity, err := openpgp.NewEntity("Test", "", "test@example.org", config)
	must(t, err)
	return Key{t, entity}
}

// Public returns the keyring with this key.
func (k Key) Public() []byte {
	k.t.Helper()
	var out bytes.Buffer
	must(k.t, k.entity.Serialize(&out))
	return out.Bytes()
}

// Sign returns a message in the form of InRelease, signed at a time.
func (k Key) Sign(text string, at time.Time) []byte { return Sign(k.t, text, at, k) }

// Sign returns a message that several keys have signed.
func Sign(t testing.TB, text string, at time.Time, keys ...Key) []byte {
	t.Helper()
	var private []*packet.PrivateKey
	for _, k := range keys {
		key, ok := k.entity.SigningKey(k.entity.PrimaryKey.CreationTime, nil)
		if !ok {
			t.Fatal("no key to sign with")
		}
		private = append(private, key.PrivateKey)
	}
	var out bytes.Buffer
	w, err := clearsign.EncodeMulti(&out, private, &packet.Config{Time: func() time.Time { return at }})
	must(t, err)
	_, err = w.Write([]byte(text))
	must(t, err)
	must(t, w.Close())
	return out.Bytes()
}

// An Archive is a site.
type Archive struct {
	URL string
	Key Key
	// Around, if it is not nil, answers requests before the archive does. It returns false for
	// those that it leaves to the archive.
	Around func(w http.ResponseWriter, r *http.Request) bool

	t        testing.TB
	mu       sync.Mutex
	files    map[string][]byte
	requests []string
}

// New starts an archive, which ends with the test.
func New(t testing.TB) *Archive {
	a := &Archive{t: t, Key: NewKey(t, 0), files: map[string][]byte{}}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	a.URL = server.URL + "/debian"
	return a
}

// ServeHTTP answers as a mirror does.
func (a *Archive) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/debian/")
	a.mu.Lock()
	data, ok := a.files[name]
	a.requests = append(a.requests, strings.TrimSpace(name+" "+r.Header.Get("Range")))
	around := a.Around
	a.mu.Unlock()
	switch {
	case around != nil && around(w, r):
	case !ok:
		http.NotFound(w, r)
	default:
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}
}

// Requests returns the files that were asked for since the last time, with their ranges.
func (a *Archive) Requests() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.requests
	a.requests = nil
	return list
}

// Put gives a file its content; nil takes it away.
func (a *Archive) Put(name string, data []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if data == nil {
		delete(a.files, name)
		return
	}
	a.files[name] = data
}

// File returns the content of a file.
func (a *Archive) File(name string) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.files[name]
}

// Package puts a .deb file into the pool and returns its stanza for an index. Fields are lines
// to be added to it.
func (a *Archive) Package(name, version string, deb []byte, fields ...string) string {
	file := fmt.Sprintf("pool/main/%s_%s.deb", name, path.Base(version))
	a.Put(file, deb)
	text := fmt.Sprintf("Package: %s\nVersion: %s\nFilename: %s\nSize: %d\nSHA256: %x\n", name, version, file, len(deb), sha256.Sum256(deb))
	for _, f := range fields {
		text += f + "\n"
	}
	return text + "\n"
}

// A Suite is what InRelease of a suite is made of.
type Suite struct {
	Codename   string // "bookworm" if it is ""
	Date       time.Time
	ValidUntil time.Time // zero: none
	Fields     string    // further lines
	Plain      bool      // indexes cannot be had by their SHA-256
}

// Publish writes the signed release of a suite with indexes, by their paths without ".xz":
// "main/binary-amd64/Packages".
func (a *Archive) Publish(s Suite, indexes map[string]string) {
	a.t.Helper()
	s.Codename = cmp.Or(s.Codename, "bookworm")
	if s.Date.IsZero() {
		s.Date = Day
	}
	const format = "Mon, 02 Jan 2006 15:04:05 UTC"
	text := fmt.Sprintf("Origin: Debian\nCodename: %s\nDate: %s\n%s", s.Codename, s.Date.Format(format), s.Fields)
	if !s.ValidUntil.IsZero() {
		text += "Valid-Until: " + s.ValidUntil.Format(format) + "\n"
	}
	if !s.Plain {
		text += "Acquire-By-Hash: yes\n"
	}
	text += "SHA256:\n"
	dists := "dists/" + s.Codename + "/"
	for _, name := range slices.Sorted(maps.Keys(indexes)) {
		packed := Compress(a.t, ".xz", []byte(indexes[name]))
		sum := sha256.Sum256(packed)
		text += fmt.Sprintf(" %x %d %s.xz\n", sum, len(packed), name)
		a.Put(dists+name+".xz", packed)
		if !s.Plain {
			a.Put(fmt.Sprintf("%s%s/by-hash/SHA256/%x", dists, path.Dir(name), sum), packed)
		}
	}
	a.Put(dists+"InRelease", a.Key.Sign(text, s.Date))
}
