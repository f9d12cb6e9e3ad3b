package session

import (
	"fmt"
	"strings"
	"testing"

	"trapline/probes/d/check"
	"trapline/probes/ktext"
)

func TestOptions(t *testing.T) {
	o := NewOptions()
	for _, arg := range []string{
		"quiet", "bufsize=64k", "strsize=100", "switchrate=10hz", "patch=inplace", "kinstpolicy=freebsd", "crosscheck", "crosscheck=off",
		"zdefs=1", "stackframes=5", "aggsortrev", "bufpolicy=switch", "engine=trap", "tramp=probe",
	} {
		if err := o.SetArg(arg); err != nil {
			t.Error(err)
		}
	}
	if !o.Out.Quiet || o.VM.BufSize != 64<<10 || o.VM.StrSize != 100 || o.SwitchRate != 1e8 || o.Patch != "inplace" ||
		o.KinstPolicy != ktext.FreeBSD || o.CrossCheck || !o.ZeroDefs || o.VM.StackFrames != 5 || !o.Out.Order.Rev {
		t.Errorf("%+v", o)
	}
}

func TestOptionErrors(t *testing.T) {
	for arg, want := range map[string]string{
		"nosuch":           `no option is called "nosuch"`,
		"":                 `no option is called ""`,
		"inlineframes=2":   `option inlineframes: "2" is neither on nor off`,
		"linkmode=static":  "option linkmode: 32-bit and process objects, and linking them, have no meaning here",
		"stdc=q":           `option stdc: "q" is not possible here, only a, c, s or t`,
		"temporal=maybe":   `option temporal: "maybe" is neither on nor off`,
		"patch=both":       `option patch: split or inplace, not "both"`,
		"patch":            `option patch: split or inplace, not ""`,
		"kinstpolicy=none": `option kinstpolicy: all, linux or freebsd, not "none"`,
		"engine=jit":       `option engine: trap or hook, not "jit"`,
		"bufpolicy=none":   `option bufpolicy: "none" is neither switch, fill nor ring`,
		"switchrate=5x":    `option switchrate: invalid rate "5x" (examples: 100ms, 1s, 10hz)`,
		"switchrate=0s":    `option switchrate: invalid rate "0s" (examples: 100ms, 1s, 10hz)`,
		"crosscheck=maybe": `option crosscheck: "maybe" is neither on nor off`,
		"bufsize=lots":     `option bufsize: "lots" is not a size`,
	} {
		if err := NewOptions().SetArg(arg); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", arg, err, want)
		}
	}
}

// Every option of the language is either there or says why not.
func TestOptionsKnown(t *testing.T) {
	for name := range table {
		if !check.IsOption(name) {
			t.Errorf("the language has no option %s", name)
		}
	}
}

// The list has every option once, and tells those that are here from those that are not.
func TestOptionList(t *testing.T) {
	seen := map[string]bool{}
	for _, i := range OptionList() {
		if seen[i.Name] || i.About == "" {
			t.Errorf("%q twice, or without a word", i.Name)
		}
		seen[i.Name] = true
		o := NewOptions()
		err := o.Set(i.Name, "")
		if here := !strings.HasSuffix(fmt.Sprint(err), ": "+i.About); here && strings.Contains(fmt.Sprint(err), "no option is called") {
			t.Errorf("%s: %v", i.Name, err)
		}
	}
	for name := range table {
		if !seen[name] {
			t.Errorf("%s is not in the list", name)
		}
	}
}
