// Package clitest gives the test scripts, which are outside cmd, the command trapline.
package clitest

import (
	"os"

	"trapline/cmd/internal/cli"
)

// Main runs trapline with the arguments of the process, and ends the process.
func Main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
