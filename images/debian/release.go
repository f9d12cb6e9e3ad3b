package debian

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A release is what a suite's InRelease says.
type release struct {
	codename   string
	date       time.Time
	validUntil time.Time // zero: for ever
	byHash     bool      // indexes can be had by their SHA-256, which no update takes away
	files      map[string]sum
}

// A sum is what a signed list says of a file.
type sum struct {
	size   int64
	sha256 string // in hex
}

// dateFormat is that of Date and Valid-Until.
const dateFormat = "Mon, _2 Jan 2006 15:04:05 MST"

// parseRelease reads the signed text.
func parseRelease(text string) (release, error) {
	fields := parseFields(text)
	r := release{codename: fields["Codename"], byHash: fields["Acquire-By-Hash"] == "yes", files: map[string]sum{}}
	var err error
	if r.date, err = parseDate(fields, "Date"); err != nil {
		return r, err
	}
	if fields["Valid-Until"] != "" {
		if r.validUntil, err = parseDate(fields, "Valid-Until"); err != nil {
			return r, err
		}
	}
	for line := range strings.Lines(fields["SHA256"]) {
		if name, s, ok := parseSum(line); ok {
			r.files[name] = s
		}
	}
	if len(r.files) == 0 {
		return r, errors.New("it lists no files")
	}
	return r, nil
}

func parseDate(fields Fields, name string) (time.Time, error) {
	t, err := time.Parse(dateFormat, fields[name])
	// Other zones than this one would be taken for it.
	if err != nil || !strings.HasSuffix(fields[name], " UTC") && !strings.HasSuffix(fields[name], " GMT") {
		return t, fmt.Errorf("it has no %s that can be read: %.40q", name, fields[name])
	}
	return t, nil
}

// parseSum reads a line with a SHA-256, a size and a name.
func parseSum(line string) (name string, s sum, ok bool) {
	words := strings.Fields(line)
	if len(words) != 3 {
		return "", s, false
	}
	size, err := strconv.ParseInt(words[1], 10, 64)
	s = sum{size, strings.ToLower(words[0])}
	return words[2], s, err == nil && size >= 0 && isSHA256(s.sha256)
}

func isSHA256(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == 32
}

// clockSlack is how far the host's clock may be behind: no more than a time zone that was
// mistaken for another.
const clockSlack = 24 * time.Hour

// check says why a release is not one of a codename that is good at a time.
func (r release) check(codename string, now time.Time) error {
	switch {
	case r.codename != codename:
		return fmt.Errorf("it is of %.40q, not of %s", r.codename, codename)
	case r.date.After(now.Add(clockSlack)):
		return fmt.Errorf("it is of %s, and the clock of this host says %s: set the clock", day(r.date), day(now))
	case !r.validUntil.IsZero() && now.After(r.validUntil):
		return fmt.Errorf("it was valid until %s, and the clock of this host says %s: the site is out of date, or the clock is wrong", day(r.validUntil), day(now))
	}
	return nil
}

func day(t time.Time) string { return t.UTC().Format("2 January 2006") }
