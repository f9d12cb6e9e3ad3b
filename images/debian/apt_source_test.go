package debian

import "testing"

func TestAsSources(t *testing.T) {
	const have = "deb http://x bookworm main\ndeb-src http://x bookworm main\n# deb\nTypes: deb\nURIs: http://y\n"
	const want = "deb-src http://x bookworm main\n# deb\nTypes: deb-src\nURIs: http://y\n"
	if got := asSources(have); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
