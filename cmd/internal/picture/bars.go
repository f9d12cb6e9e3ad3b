package picture

import (
	"fmt"
	"strings"

	"trapline/cmd/tracejson"
)

// labels is the room for numbers at the left of bars, in pixels.
const labels = 160

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
		w := float64(inner-2*labels) * float64(max(k.Count, -k.Count)) / float64(most)
		share := 100 * float64(k.Count) / float64(max(1, total))
		fmt.Fprintf(b, `<g><title>%s: %d, %.1f%%</title><text x="%d" y="%d" text-anchor="end">%s</text>`,
			escape(k.Label), k.Count, share, labels-8, y+13, escape(k.Label))
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="#3f7fbf"/><text x="%.1f" y="%d">%d</text></g>`+"\n",
			labels, y+2, w, line-4, labels+w+6, y+13, k.Count)
	}
}
