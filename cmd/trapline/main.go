// Command trapline traces kernel images under an emulator. See trapline help.
package main

import (
	"os"

	"trapline/cmd/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
