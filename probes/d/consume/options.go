package consume

import (
	"fmt"
	"strconv"

	"trapline/probes/d/agg"
)

// Options are the options of a trace that say how it is shown.
type Options struct {
	Quiet       bool      // quiet: only what actions print
	RawBytes    bool      // rawbytes: strings that were traced as raw dumps
	StackIndent int       // stackindent: blanks before each frame
	AggZoom     bool      // aggzoom: the longest bar of a distribution takes nearly all the width
	AggHist     bool      // agghist: aggregations of numbers as bars
	AggPack     bool      // aggpack: distributions in one line each
	FlowIndent  bool      // flowindent: firings indented by the depth of calls
	Order       agg.Order // aggsortkey, aggsortkeypos, aggsortpos, aggsortrev
	JSON        bool      // oformat=json: objects of JSON, see type JSON
}

// DefaultOptions are those of a trace that sets none.
func DefaultOptions() Options { return Options{StackIndent: 14} }

// Set sets an option by its name in D. It reports whether the name is one of a way to show
// traces, and fails on a value that the option does not take.
func (o *Options) Set(name, value string) (known bool, err error) {
	switch name {
	case "quiet":
		err = setBool(&o.Quiet, value)
	case "rawbytes":
		err = setBool(&o.RawBytes, value)
	case "stackindent":
		err = setInt(&o.StackIndent, value)
	case "aggzoom":
		err = setBool(&o.AggZoom, value)
	case "agghist":
		err = setBool(&o.AggHist, value)
	case "aggpack":
		err = setBool(&o.AggPack, value)
	case "flowindent":
		err = setBool(&o.FlowIndent, value)
	case "aggsortkey":
		err = setBool(&o.Order.ByKey, value)
	case "aggsortkeypos":
		err = setInt(&o.Order.KeyPos, value)
	case "aggsortpos":
		err = setInt(&o.Order.AggPos, value)
	case "aggsortrev":
		err = setBool(&o.Order.Rev, value)
	case "oformat":
		err = o.setFormat(value)
	default:
		return false, nil
	}
	if err != nil {
		err = fmt.Errorf("option %s: %w", name, err)
	}
	return true, err
}

func (o *Options) setFormat(value string) error {
	if value != "text" && value != "json" {
		return fmt.Errorf("%q is neither text nor json", value)
	}
	o.JSON = value == "json"
	return nil
}

func setBool(p *bool, value string) error {
	switch value {
	case "", "1", "on", "yes", "set", "enable", "enabled":
		*p = true
	case "0", "off", "no", "unset", "disable", "disabled":
		*p = false
	default:
		return fmt.Errorf("%q is neither on nor off", value)
	}
	return nil
}

// Most blanks before a frame, and the largest position of a key or aggregation.
const maxInt = 1000

func setInt(p *int, value string) error {
	n, err := strconv.ParseUint(value, 0, 32)
	if err != nil || n > maxInt {
		return fmt.Errorf("%q is not a number from 0 to %d", value, maxInt)
	}
	*p = int(n)
	return nil
}
