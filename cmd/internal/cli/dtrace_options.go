package cli

import (
	"cmp"
	"errors"
	"io"

	"github.com/spf13/pflag"

	"trapline/probes/session"
)

// optionFlags are the flags of dtrace(1) that set an option.
var optionFlags = []struct {
	name, letter, option, usage string
	takes                       string // what value it takes, "" for none
}{
	{"cpp", "C", "cpp", "pass scripts through the C preprocessor", ""},
	{"define", "D", "define", "define `NAME[=VALUE]` in the preprocessor", "define"},
	{"flow", "F", "flowindent", "indent entries and returns by the depth of calls", ""},
	{"format", "O", "oformat", "print the trace in `FORMAT`: text or json", "format"},
	{"headers", "H", "cpphdrs", "list the files that the preprocessor includes", ""},
	{"include", "I", "incdir", "look for included files in `DIR`", "dir"},
	{"library", "L", "libdir", "read the D libraries of `DIR`", "dir"},
	{"undefine", "U", "undef", "undefine `NAME` in the preprocessor", "name"},
	{"stdc", "X", "stdc", "set the `STANDARD` that the preprocessor keeps to: a, c, s or t", "standard"},
}

// optionFlag is a flag that stands for -x option=value.
type optionFlag struct {
	t      *tracing
	option string
	takes  string
}

func (optionFlag) String() string { return "" }
func (o optionFlag) Type() string { return cmp.Or(o.takes, "bool") }

func (o optionFlag) Set(value string) error {
	if o.takes == "" {
		if value != "true" {
			return errors.New("it takes no value")
		}
		value = ""
	}
	o.t.setting = append(o.t.setting, o.option+"="+value)
	return nil
}

// settingFlag is -x. It adds to what other flags have set, as pflag's StringArray does not.
type settingFlag []string

func (s *settingFlag) String() string { return "" }
func (s *settingFlag) Type() string   { return "option" }

func (s *settingFlag) Set(value string) error {
	*s = append(*s, value)
	return nil
}

// addOptionFlags adds them, and the flags that show what has been compiled.
func (t *tracing) addOptionFlags(f *pflag.FlagSet) {
	for _, o := range optionFlags {
		flag := f.VarPF(optionFlag{t, o.option, o.takes}, o.name, o.letter, o.usage)
		if o.takes == "" {
			flag.NoOptDefVal = "true"
		}
	}
	f.BoolVarP(&t.show.code, "code", "S", false, "show the compiled code")
	f.BoolVarP(&t.show.sugar, "desugared", "d", false, "show the program with if and else expanded")
	f.StringVarP(&t.pid, "pid", "p", "", "set $target to process `PID` of the guest")
}

// shown says what to show of the compiled program.
type shown struct {
	code, sugar bool
}

// write shows it, and with -v how stable it is.
func (t *tracing) write(s *session.Session, w io.Writer) error {
	if t.show.sugar {
		if err := s.Desugared(w); err != nil {
			return err
		}
	}
	if t.show.code {
		if err := s.Disasm(w); err != nil {
			return err
		}
	}
	if t.options.Verbose && !t.list {
		return s.Stability(w)
	}
	return nil
}
