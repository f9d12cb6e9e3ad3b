package option

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"trapline/probes/d/agg"
)

func TestOptions(t *testing.T) {
	o := New()
	for _, arg := range []string{
		"quiet", "bufsize=64k", "strsize=100", "switchrate=10hz", "patch=inplace", "kinstpolicy=freebsd", "crosscheck", "crosscheck=off",
		"zdefs=1", "stackframes=5", "aggsortrev", "bufpolicy=switch", "engine=trap", "tramp=probe",
	} {
		if err := o.SetArg(arg); err != nil {
			t.Error(err)
		}
	}
	if !o.Quiet || o.BufSize != 64<<10 || o.StrSize != 100 || o.SwitchRate != 1e8 || o.Patch != "inplace" ||
		o.KinstPolicy != "freebsd" || o.CrossCheck || !o.ZeroDefs || o.StackFrames != 5 || !o.Order.Rev {
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
		if err := New().SetArg(arg); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", arg, err, want)
		}
	}
}

func TestSizes(t *testing.T) {
	for arg, ok := range map[string]bool{
		"bufsize=4m": true, "aggsize=0x1000": true, "dynvarsize=12K": true, "nspec=0": true,
		"strsize=1g": false, "strsize=0": false, "stackframes": false, "stackframes=513": false, "bufsize=0": true,
		"bufsize=99999999999999999999": false, "bufsize=100t": true,
	} {
		if err := New().SetArg(arg); (err == nil) != ok {
			t.Errorf("%s: %v", arg, err)
		}
	}
	o := New()
	if err := o.SetArg("bufsize=3k"); err != nil || o.BufSize != 3072 {
		t.Errorf("bufsize %d, %v", o.BufSize, err)
	}
}

func TestView(t *testing.T) {
	v := DefaultView()
	for _, set := range [][2]string{{"quiet", ""}, {"rawbytes", "yes"}, {"stackindent", "4"}, {"aggsortkey", "1"},
		{"aggsortkeypos", "2"}, {"aggsortpos", "1"}, {"aggsortrev", "on"}} {
		if known, err := v.Set(set[0], set[1]); !known || err != nil {
			t.Errorf("%v: %v, %v", set, known, err)
		}
	}
	want := View{Quiet: true, RawBytes: true, StackIndent: 4, Order: agg.Order{ByKey: true, KeyPos: 2, AggPos: 1, Rev: true}}
	if v != want {
		t.Errorf("got %+v", v)
	}
	if known, err := v.Set("quiet", "no"); !known || err != nil || v.Quiet {
		t.Error("quiet=no")
	}
	for _, bad := range [][2]string{{"quiet", "maybe"}, {"stackindent", ""}, {"stackindent", "-1"}, {"aggsortpos", "5000"}} {
		if _, err := v.Set(bad[0], bad[1]); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	for _, name := range []string{"bufsize", "oformat", "switchrate", "nosuch"} {
		if known, _ := v.Set(name, "1"); known {
			t.Errorf("%s is not of a view, or may not change", name)
		}
	}
}

// TestTable: each row of the table is complete, and one that may change while the trace is shown
// changes the view alone.
func TestTable(t *testing.T) {
	for _, name := range Names() {
		r := table[name]
		if r.about == "" || (r.set == nil) != (r.until == never) || !Known(name) || About(name) != r.about {
			t.Errorf("the row of %s lacks something", name)
		}
		if r.set == nil {
			if err := New().Set(name, ""); err == nil || err.Error() != "option "+name+": "+r.about {
				t.Errorf("%s is not here: %v", name, err)
			}
			continue
		}
		if r.until == showing {
			o := New()
			value := "1"
			if name == "encoding" {
				value = "utf8"
			}
			if err := o.Set(name, value); err != nil {
				t.Errorf("%s=%s: %v", name, value, err)
			}
			if o.View = DefaultView(); !reflect.DeepEqual(o, New()) {
				t.Errorf("%s is more than an option of View", name)
			}
		}
	}
	if Known("nosuch") || WhileReading("nosuch") || WhileCompiling("nosuch") || WhileRunning("nosuch") {
		t.Error("there is an option nosuch")
	}
}

// TestTableFields: every field of Options but CPUs, which the guest has, can be set.
func TestTableFields(t *testing.T) {
	set := map[string]bool{"CPUs": true}
	for _, r := range table {
		for _, value := range []string{"", "0", "9", "9s", "x", "a", "s", "inplace", "hook", "thread", "none", "linux", "ring", "json", "off", "manual", "utf8", "1.2"} {
			if r.set == nil {
				continue
			}
			o := New()
			if r.set(o, value) == nil {
				changed(reflect.ValueOf(*New()), reflect.ValueOf(*o), set)
			}
		}
	}
	fields(t, reflect.TypeOf(Options{}), set)
}

// changed notes the names of the fields in which two structures differ.
func changed(a, b reflect.Value, names map[string]bool) {
	for i := range a.NumField() {
		if a.Field(i).Kind() == reflect.Struct {
			changed(a.Field(i), b.Field(i), names)
		} else if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			names[a.Type().Field(i).Name] = true
		}
	}
}

// fields looks for fields that have no name in a set.
func fields(t *testing.T, typ reflect.Type, set map[string]bool) {
	t.Helper()
	for i := range typ.NumField() {
		if f := typ.Field(i); f.Type.Kind() == reflect.Struct {
			fields(t, f.Type, set)
		} else if !set[f.Name] {
			t.Errorf("no option sets %s", f.Name)
		}
	}
}

// TestOptionsRefused: an option that docs/dlang.md has as not there says what stands there.
func TestOptionsRefused(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/dlang.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "\n## Options\n")
	text, _, _ = strings.Cut(text, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\| `[^`]+` \\| (.*) \\|$").FindAllStringSubmatch(text, -1)
	refused := 0
	for _, row := range rows {
		err := New().Set(row[1], "")
		if row[2] == "no" {
			refused++
			if want := "option " + row[1] + ": " + row[3]; fmt.Sprint(err) != want {
				t.Errorf("%s: %v, and not %s", row[1], err, want)
			}
		} else if table[row[1]].set == nil {
			t.Errorf("%s is not there: %v", row[1], err)
		}
	}
	if refused < 10 {
		t.Errorf("only %d options are refused", refused)
	}
}
