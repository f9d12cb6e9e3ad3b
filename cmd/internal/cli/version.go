package cli

import (
	"fmt"

	"trapline/emu"
)

// Version of trapline.
const Version = "0.1"

func runVersion(e *env, args []string) error {
	f := e.newFlags("version")
	if err := parse(f, args); err != nil {
		return err
	}
	lib, err := emu.LibraryVersion()
	fmt.Fprintf(e.stdout, "trapline %s, libunicorn %s\n", Version, lib)
	return err
}
