package picture

import (
	"fmt"
	"strings"

	"trapline/cmd/tracejson"
)

// In percent of the width: the room for numbers at the left of bars, and for the longest bar.
const (
	labels  = 40
	longest = 45
)

// bars makes a panel for each distribution.
func bars(rows []tracejson.Row) (panels []panel) {
	for _, r := range rows {
		if r.Buckets == nil {
			continue
		}
		title := r.Name + ": " + r.Function
		if t := texts(r); t != "" {
			title += " of " + t
		}
		panels = append(panels, panel{title, line * len(r.Buckets), func(b *strings.Builder) { drawBars(b, r.Buckets) }})
	}
	return panels
}

func drawBars(b *strings.Builder, buckets []tracejson.Bucket) {
	most, total := int64(1), int64(0)
	for _, k := range buckets {
		most = max(most, k.Count, -k.Count)
		total += max(k.Count, -k.Count)
	}
	for i, k := range buckets {
		y := i * line
		w := longest * float64(max(k.Count, -k.Count)) / float64(most)
		share := 100 * float64(k.Count) / float64(max(1, total))
		fmt.Fprintf(b, `<g><title>%s: %d, %.1f%%</title><text class="label" x="%d%%" y="%d" dx="-8">%s</text>`,
			escape(k.Label), k.Count, share, labels, y+13, escape(k.Label))
		fmt.Fprintf(b, `<rect x="%d%%" y="%d" width="%.2f%%" height="%d" fill="#3f7fbf"/><text x="%.2f%%" y="%d" dx="6">%d</text></g>`+"\n",
			labels, y+2, w, line-4, labels+w, y+13, k.Count)
	}
}
