package session

import (
	"errors"
	"strings"
	"testing"

	"trapline/probes/front"
)

// TestSources: sources are one program. An error is that of the first source that is wrong, knowing
// those before it.
func TestSources(t *testing.T) {
	const broken = "BEGIN { trace( }"
	for _, c := range []struct {
		about   string
		sources []string
		args    []string
		failed  int // the source that is at fault, from 1; 0: none
		want    string
	}{
		{"a variable of the source before", []string{"BEGIN { n = 1 }", "END { trace(n) }"}, nil, 0, ""},
		{"a variable of the source after", []string{"BEGIN { trace(n) }", "END { n = 1 }"}, nil, 1, "Unknown variable name"},
		{"a type of the source before", []string{"typedef int number; BEGIN {}", "END { trace((number)1) }"}, nil, 0, ""},
		{"a wrong source before one that cannot be read", []string{"BEGIN { trace(n) }", broken}, nil, 1, "Unknown variable name"},
		{"one that cannot be read before a wrong one", []string{broken, "BEGIN { trace(n) }"}, nil, 1, "syntax error"},
		{"what is wrong above a syntax error", []string{"BEGIN {}", "BEGIN { trace(n) }\n" + broken}, nil, 2, "Unknown variable name"},
		{"a syntax error", []string{"BEGIN {}", broken, "END {}"}, nil, 2, "syntax error"},
		{"nothing, then something", []string{" ", "BEGIN {}"}, nil, 1, "empty"},
		{"something, then nothing", []string{"BEGIN {}", " "}, nil, 0, ""},
		{"an argument that the other source uses", []string{"BEGIN {}", "END { trace($1) }"}, []string{"x.d", "7"}, 0, ""},
		{"an argument that no source uses", []string{"BEGIN {}", "END {}"}, []string{"x.d", "7"}, 2, "extraneous argument"},
		{"an option for its compilation, before", []string{"#pragma D option defaultargs\nBEGIN {}", "END { trace($1) }"}, nil, 0, ""},
		{"an option for its compilation, after", []string{"END { trace($1) }", "#pragma D option defaultargs\nBEGIN {}"}, nil, 1, "$1"},
		{"an option that is wrong, then an error", []string{"#pragma D option bufsize=x\nBEGIN {}", "END { trace(n) }"}, nil, 1, "bufsize"},
		{"a size of strings that is wrong", []string{"BEGIN {}", "#pragma D option strsize=0\nEND {}"}, nil, 2, "strsize"},
		{"a name that only the next source defines", []string{"#pragma D attributes Stable/Stable/Common n\nBEGIN {}", "END { n = 1 }"}, nil, 1, "unused"},
	} {
		r := newRig(t, "quiet")
		var sources []front.Source
		for _, text := range c.sources {
			sources = append(sources, script(text))
		}
		err := r.Compile(sources, front.Macros{Args: c.args})
		var ce *front.CompileError
		switch {
		case c.failed == 0 && err != nil:
			t.Errorf("%s: %v", c.about, err)
		case c.failed == 0:
		case !errors.As(err, &ce) || ce.Source.Text != c.sources[c.failed-1] || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q in source %d", c.about, err, c.want, c.failed)
		}
	}
}

// TestStrSizeOfSources: the size of strings is that which is set last, in all sources.
func TestStrSizeOfSources(t *testing.T) {
	r := newRig(t, "quiet")
	err := r.trace(nil, script("#pragma D option strsize=100\nBEGIN { s = \"x\"; trace(sizeof (s)) }"),
		script("#pragma D option strsize=50\nBEGIN { trace(sizeof (s)) }"))
	if err != nil || r.out.String() != "5050\n" {
		t.Errorf("%v: %q, want 50 twice", err, r.out.String())
	}
}
