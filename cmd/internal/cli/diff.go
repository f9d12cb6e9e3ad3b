package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"trapline/cmd/tracejson"
	"trapline/probes/d/option"
)

const diffNotes = `diff runs the program on both images, with the flags of dtrace, and shows the rows of its
aggregations that differ. It compares stacks by their functions, and distributions bucket by bucket.
It does not compare what the program prints otherwise.

The exit status is one that git bisect run understands: 0 no difference, 1 a difference, 125 one of
the kernels cannot be tested, 129 a wrong command line, 130 interrupted.
`

// Exit statuses of diff that are not those of other commands: git bisect run skips a commit
// at 125 and gives up from 128 on.
const (
	statusDiffers = 1
	statusSkip    = 125
	statusMisuse  = 129
)

// runDiff traces two images with one program and shows what differs.
func runDiff(e *env, args []string) error {
	var threshold float64
	var images [2]string
	var captures [2]*capture
	var rows [2]map[string]int64
	for i := range images {
		t := &tracing{options: option.New()}
		f := t.flags(e, "diff", diffNotes, func(f *pflag.FlagSet) {
			f.Float64Var(&threshold, "threshold", 0, "ignore changes of up to `PERCENT`")
		})
		if err := t.parse(f, args); err != nil {
			return misuse(err)
		}
		if len(t.args) < 2 || f.Changed("image") || !(threshold >= 0) {
			return misuse(usagef("diff: name two images, as in: trapline diff A B -n PROGRAM -c LINE"))
		}
		images = [2]string(t.args[:2])
		t.guest.image, t.args = t.args[i], t.args[2:]
		c, err := newCapture("diff", t)
		if err != nil {
			return skip(images[i], err)
		}
		defer c.close()
		captures[i] = c
		e.allow(t.policy())
		e.allow(t.guest.policy())
	}
	for i, c := range captures {
		captured, err := c.run(e)
		if err != nil {
			return skip(images[i], err)
		}
		rows[i] = numbers(captured)
	}
	if len(rows[0])+len(rows[1]) == 0 {
		return &exit{statusSkip, errors.New("diff: nothing to compare: the program has aggregated nothing on either image; what it prints is not compared")}
	}
	if n := showChanges(e.stdout, images, rows, threshold); n > 0 {
		return &exit{status: statusDiffers}
	}
	fmt.Fprintf(e.stderr, "diff: no difference in %d values\n", len(rows[0]))
	return nil
}

// misuse is an error in the command line, with the status for it.
func misuse(err error) error {
	var x *exit
	if errors.As(err, &x) {
		return &exit{statusMisuse, x.err}
	}
	return err
}

// skip says that an image could not be tested.
func skip(image string, err error) error {
	var x *exit
	if errors.As(err, &x) && (x.status == statusSignal || x.status == statusUsage) {
		if x.status == statusUsage {
			return misuse(err)
		}
		return err
	}
	return &exit{statusSkip, fmt.Errorf("diff: %s cannot be tested: %w", image, err)}
}

// numbers are the values of rows by what they are of: a bucket is a row of its own.
func numbers(rows []tracejson.Row) map[string]int64 {
	all := map[string]int64{}
	for _, r := range rows {
		keys := make([]string, len(r.Keys))
		for i, k := range r.Keys {
			keys[i] = k.Text
		}
		name := r.Name + "\t" + strings.Join(keys, ", ")
		if r.Buckets == nil {
			all[name] = r.Value
		}
		for _, b := range r.Buckets {
			all[name+" ["+b.Label+"]"] = b.Count
		}
	}
	return all
}

// showChanges writes the rows that differ by more than threshold percent, and says how many
// those are.
func showChanges(out io.Writer, images [2]string, rows [2]map[string]int64, threshold float64) (n int) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(rows[0])), maps.Keys(rows[1]))
	slices.Sort(names)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, name := range slices.Compact(names) {
		a, inA := rows[0][name]
		b, inB := rows[1][name]
		if inA && inB && !differ(a, b, threshold) {
			continue
		}
		if n++; n == 1 {
			fmt.Fprintf(w, "AGGREGATION\tKEYS\t%s\t%s\tCHANGE\n", images[0], images[1])
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", name, number(a, inA), number(b, inB), changeText(a, b, inA && inB))
	}
	w.Flush() // out remembers its error
	return n
}

func differ(a, b int64, threshold float64) bool {
	return a != b && math.Abs(float64(b)-float64(a)) > threshold/100*math.Abs(float64(a))
}

func number(n int64, there bool) string {
	if !there {
		return "-"
	}
	return fmt.Sprint(n)
}

// changeText is a change in percent, or what has come or gone.
func changeText(a, b int64, both bool) string {
	if !both || a == 0 {
		return fmt.Sprintf("%+d", b-a)
	}
	return fmt.Sprintf("%+.1f%%", 100*(float64(b)-float64(a))/math.Abs(float64(a)))
}
