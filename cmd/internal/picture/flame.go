package picture

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"trapline/cmd/tracejson"
)

// A frame is a function in the stacks of an aggregation, and those it calls.
type frame struct {
	name  string
	value int64 // of all stacks that go through it
	calls []*frame
}

// call finds or makes the frame of a function that f calls. Frames are in the order of
// names, so that a picture does not depend on the order of rows.
func (f *frame) call(name string) *frame {
	i, found := slices.BinarySearchFunc(f.calls, name, func(c *frame, name string) int { return strings.Compare(c.name, name) })
	if !found {
		f.calls = slices.Insert(f.calls, i, &frame{name: name})
	}
	return f.calls[i]
}

func (f *frame) depth() (n int) {
	for _, c := range f.calls {
		n = max(n, 1+c.depth())
	}
	return n
}

// flames makes a panel for each aggregation with stacks, in their order. The other keys
// come below the outermost function, as if they had called it.
func flames(rows []tracejson.Row) (panels []panel) {
	roots := map[string]*frame{}
	var order []string
	for _, r := range rows {
		at := slices.IndexFunc(r.Keys, func(k tracejson.Key) bool { return k.Stack != nil })
		if at < 0 || r.Buckets != nil || r.Value <= 0 {
			continue
		}
		title := fmt.Sprintf("%s: %s by stack", r.Name, r.Function)
		if roots[title] == nil {
			roots[title] = &frame{name: "all"}
			order = append(order, title)
		}
		roots[title].add(r, r.Keys[at].Stack)
	}
	for _, title := range order {
		root := roots[title]
		height := (root.depth() + 1) * line
		panels = append(panels, panel{title, height, func(b *strings.Builder) {
			root.draw(b, root.value, 0, height-line)
		}})
	}
	return panels
}

func (f *frame) add(r tracejson.Row, stack []tracejson.Frame) {
	f.value += r.Value
	if t := texts(r); t != "" {
		f = f.call(t)
		f.value += r.Value
	}
	for _, s := range slices.Backward(stack) {
		f = f.call(s.String())
		f.value += r.Value
	}
}

// Shares of a whole picture, in percent.
const (
	visible  = 0.01 // what is narrower is left out, however far one zooms
	readable = 2.0  // what is narrower has no room for text
)

// draw draws f and, above it, what it calls. Of the total, before is what is to its left.
func (f *frame) draw(b *strings.Builder, total, before int64, y int) {
	share := func(n int64) float64 { return 100 * float64(n) / float64(total) }
	class := "frame"
	if share(f.value) < readable {
		class += " narrow"
	}
	fmt.Fprintf(b, `<svg class="%s" x="%.3f%%" y="%d" width="%.3f%%" height="%d"><title>%s: %d, %.1f%%</title>`,
		class, share(before), y, share(f.value), line-1, escape(f.name), f.value, share(f.value))
	fmt.Fprintf(b, `<rect width="100%%" height="100%%" fill="%s"/><text x="3" y="13">%s</text></svg>`+"\n", f.color(), escape(f.name))
	for _, c := range f.calls {
		if share(c.value) >= visible {
			c.draw(b, total, before, y-line)
		}
		before += c.value
	}
}

// color is a warm colour that depends on the name alone.
func (f *frame) color() string {
	h := fnv.New32a()
	h.Write([]byte(f.name))
	n := h.Sum32()
	return fmt.Sprintf("hsl(%d,%d%%,%d%%)", 10+n%45, 75+n/64%20, 62+n/4096%12)
}
