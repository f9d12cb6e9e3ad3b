package cli

import (
	"fmt"

	"trapline/cmd/internal/sandbox"
	"trapline/emu"
)

// Version of trapline.
const Version = "0.1"

// commit is what the program was built of; make sets it, with -dirty if files were changed.
var commit string

func runVersion(e *env, args []string) error {
	f := e.newFlags("version")
	verbose := f.BoolP("verbose", "v", false, "print what this host has for the sandbox of guests, too")
	if err := parse(f, args); err != nil {
		return err
	}
	built := ""
	if commit != "" {
		built = " (commit " + commit + ")"
	}
	lib, err := emu.LibraryVersion()
	fmt.Fprintf(e.stdout, "trapline %s%s, libunicorn %s\n", Version, built, lib)
	if *verbose {
		host := sandbox.Host()
		fmt.Fprintf(e.stdout, "seccomp: %s\nlandlock: %s\n", seccompText(host), landlockText(host))
	}
	return err
}

func seccompText(host sandbox.InForce) string {
	if host.Seccomp {
		return "yes"
	}
	return "no"
}

func landlockText(host sandbox.InForce) string {
	if host.Landlock > 0 {
		return fmt.Sprintf("ABI %d", host.Landlock)
	}
	return "no"
}
