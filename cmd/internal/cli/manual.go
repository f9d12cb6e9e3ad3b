package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
)

// helpWidth is the width of a line of --help.
const helpWidth = 100

// A manual is what there is to say of a command: the source of --help, of man pages and of
// completion.
type manual struct {
	command
	flags *pflag.FlagSet
	notes []string
}

// manual has a command make its flags, and what there is to say after them.
func (c command) manual() manual {
	m := manual{command: c}
	e := &env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, describe: &m}
	if err := c.run(e, []string{"--help"}); !errors.Is(err, pflag.ErrHelp) {
		panic(fmt.Sprintf("trapline %s --help: %v", c.name, err)) // a command that does not parse its flags
	}
	return m
}

// help writes the manual as --help shows it.
func (m manual) help(w io.Writer) {
	fmt.Fprintf(w, "trapline %s %s\n%s\n", m.name, m.args, m.short)
	if m.flags.HasAvailableFlags() {
		fmt.Fprintf(w, "\n%s", m.flags.FlagUsagesWrapped(helpWidth))
	}
	for _, text := range m.notes {
		fmt.Fprint(w, "\n"+text)
	}
}

// writeManuals writes man pages into a directory: trapline.1, and one for each command.
func writeManuals(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("writing man pages: %w", err)
	}
	var list strings.Builder
	for _, c := range commands() {
		fmt.Fprintf(&list, ".TP\n.BR trapline-%s (1)\n%s\n", roff(c.name), roff(c.short))
		if err := writePage(dir, "trapline-"+c.name, c.manual().page()); err != nil {
			return err
		}
	}
	var notes strings.Builder
	helpNotes(&notes)
	page := roffTitle("trapline", "boots a kernel under an emulator and traces it with D") +
		".SH SYNOPSIS\n.B trapline\n.I COMMAND\n[arguments]\n.SH COMMANDS\n" + list.String() +
		".SH DESCRIPTION\n" + roffText(notes.String())
	return writePage(dir, "trapline", page)
}

func writePage(dir, name, text string) error {
	if err := os.WriteFile(filepath.Join(dir, name+".1"), []byte(text), 0o644); err != nil {
		return fmt.Errorf("writing man pages: %w", err)
	}
	return nil
}

// page is the manual for man(1), see man(7).
func (m manual) page() string {
	var b strings.Builder
	b.WriteString(roffTitle("trapline-"+m.name, m.short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B trapline %s\n%s\n", roff(m.name), roff(m.args))
	if m.flags.HasAvailableFlags() {
		b.WriteString(".SH OPTIONS\n")
	}
	m.flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		names := "--" + f.Name
		if f.Shorthand != "" {
			names = "-" + f.Shorthand + ", " + names
		}
		fmt.Fprintf(&b, ".TP\n.BI \"%s \" %s\n%s\n", roff(names), roff(value), roff(usage))
	})
	if len(m.notes) > 0 {
		b.WriteString(".SH DESCRIPTION\n")
	}
	for _, text := range m.notes {
		b.WriteString(".PP\n" + roffText(text))
	}
	b.WriteString(".SH SEE ALSO\n.BR trapline (1)\n")
	return b.String()
}

func roffTitle(name, short string) string {
	return fmt.Sprintf(".TH %s 1 \"\" \"trapline %s\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(roff(name)), Version, roff(name), roff(short))
}

// roffText is text with its line breaks as they are, since many lines are examples.
func roffText(text string) string {
	var b strings.Builder
	b.WriteString(".nf\n")
	for line := range strings.Lines(text) {
		b.WriteString(roff(strings.TrimSuffix(line, "\n")) + "\n")
	}
	b.WriteString(".fi\n")
	return b.String()
}

// roff escapes a line for man.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	return line
}
