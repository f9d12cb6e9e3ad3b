package cli

import (
	"fmt"

	"trapline/emu"
)

// Version of trapline.
const Version = "0.1"

// commit is what the program was built of; make sets it, with -dirty if files were changed.
var commit string

func runVersion(e *env, args []string) error {
	f := e.newFlags("version")
	if err := parse(f, args); err != nil {
		return err
	}
	built := ""
	if commit != "" {
		built = " (commit " + commit + ")"
	}
	lib, err := emu.LibraryVersion()
	fmt.Fprintf(e.stdout, "trapline %s%s, libunicorn %s\n", Version, built, lib)
	return err
}
