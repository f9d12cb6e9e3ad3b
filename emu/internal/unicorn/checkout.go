//go:build !packaged

package unicorn

// Programs that are run in the checkout, tests among them, find the library there, wherever they
// are put. Packaged ones have it beside them and know nothing of the machine that they are built on.

// #cgo LDFLAGS: -Wl,-rpath,${SRCDIR}/../../../lib/trapline
import "C"
