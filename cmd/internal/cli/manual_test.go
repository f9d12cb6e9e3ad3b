package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// metavar is how help names the value of a flag: NAME, NAME=VALUE, NAME[=VALUE]; a switch has none.
var metavar = regexp.MustCompile(`^([A-Z]+(\[?=[A-Z]+\]?|/[A-Z]+)?)?$`)

// TestManuals: every flag says what it does, in one way, and the flags fit into the width of help.
func TestManuals(t *testing.T) {
	for _, c := range commands() {
		m := c.manual()
		m.flags.VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			value, usage := pflag.UnquoteUsage(f)
			switch {
			case !metavar.MatchString(value):
				t.Errorf("%s --%s takes %q (want a word in capitals)", c.name, f.Name, value)
			case value != "" && !strings.Contains(f.Usage, "`"+value):
				t.Errorf("%s --%s does not say what %s is: %q", c.name, f.Name, value, usage)
			case value == "" && f.NoOptDefVal != "true":
				t.Errorf("%s --%s is not a plain switch", c.name, f.Name)
			}
			if !regexp.MustCompile(`^[a-z]`).MatchString(usage) || strings.HasSuffix(usage, ".") {
				t.Errorf("%s --%s: %q (want what it does, without a full stop)", c.name, f.Name, usage)
			}
		})
		for line := range strings.Lines(m.flags.FlagUsagesWrapped(helpWidth)) {
			if len(line) > helpWidth+1 {
				t.Errorf("%s --help is wider than %d: %s", c.name, helpWidth, line)
			}
		}
	}
}
