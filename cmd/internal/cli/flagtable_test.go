package cli

import (
	"os"
	"regexp"
	"testing"

	"github.com/spf13/pflag"

	"trapline/probes/d/option"
)

// TestFlagTable: docs/dlang.md has every flag of dtrace that is a letter, and says of each
// whether it is refused.
func TestFlagTable(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/dlang.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{} // letter: it is there
	for _, m := range regexp.MustCompile("(?m)^\\| `-(\\w)` \\| (yes|no) \\|").FindAllStringSubmatch(string(doc), -1) {
		listed[m[1]] = m[2] == "yes"
	}
	tr := &tracing{options: option.New()}
	tr.flags(&env{}, "dtrace", dtraceNotes, noFlags).VisitAll(func(f *pflag.Flag) {
		_, refused := f.Value.(absentFlag)
		here, ok := listed[f.Shorthand]
		switch own := f.Shorthand == "k" || f.Shorthand == "3" || f.Shorthand == "6"; {
		case f.Shorthand == "" || own:
		case !ok:
			t.Errorf("-%s is not in the table", f.Shorthand)
		case here == refused:
			t.Errorf("-%s: the table has another thing", f.Shorthand)
		}
		delete(listed, f.Shorthand)
	})
	for letter := range listed {
		t.Errorf("-%s is in the table, and no flag", letter)
	}
}
