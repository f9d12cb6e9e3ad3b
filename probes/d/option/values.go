package option

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
)

// flag takes on or off, in one of their words.
func flag(field func(*Options) *bool) func(*Options, string) error {
	return func(o *Options, value string) error {
		switch strings.ToLower(value) {
		case "", "1", "on", "yes", "true", "set", "enable", "enabled":
			*field(o) = true
		case "0", "off", "no", "false", "unset", "disable", "disabled":
			*field(o) = false
		default:
			return fmt.Errorf("%q is neither on nor off", value)
		}
		return nil
	}
}

// rateUnits are virtual nanoseconds; a rate in hz, or without a unit, has none.
var rateUnits = map[string]uint64{
	"ns": 1, "nsec": 1, "us": 1e3, "usec": 1e3, "ms": 1e6, "msec": 1e6, "s": 1e9, "sec": 1e9,
	"m": 60e9, "min": 60e9, "h": 3600e9, "hour": 3600e9, "d": 86400e9, "day": 86400e9, "hz": 0, "": 0,
}

// rate reads the time between two events, or with hz how many there are in a second.
func rate(field func(*Options) *uint64) func(*Options, string) error {
	return func(o *Options, value string) error {
		digits := strings.TrimRight(strings.ToLower(value), "abcdefghijklmnopqrstuvwxyz")
		unit, ok := rateUnits[strings.ToLower(value[len(digits):])]
		n, err := strconv.ParseUint(digits, 10, 64)
		if err != nil || !ok || n == 0 || unit > 0 && n > math.MaxInt64/unit {
			return fmt.Errorf("invalid rate %q (examples: 100ms, 1s, 10hz)", value)
		}
		if *field(o) = n * unit; unit == 0 {
			*field(o) = max(1, 1e9/n)
		}
		return nil
	}
}

// anyRate takes a rate and does nothing with it: freed variables and speculations are free at once.
func anyRate(_ *Options, value string) error {
	var ns uint64
	return rate(func(*Options) *uint64 { return &ns })(nil, value)
}

// oneOf takes one of the values that a phrase names: "split or inplace".
func oneOf(phrase string, field func(*Options) *string) func(*Options, string) error {
	values := strings.Fields(strings.NewReplacer(",", "", " or ", " ").Replace(phrase))
	return func(o *Options, value string) error {
		if !slices.Contains(values, value) {
			return fmt.Errorf("%s, not %q", phrase, value)
		}
		*field(o) = value
		return nil
	}
}

// size takes a size, or a number of something.
func size(least, most int, field func(*Options) *int) func(*Options, string) error {
	return func(o *Options, value string) error {
		size, err := code.ParseSize(value)
		if err != nil {
			return err
		}
		n := int(min(size, 1<<62))
		if n < least || n > most {
			return fmt.Errorf("%s is not from %d to %d", value, least, most)
		}
		*field(o) = n
		return nil
	}
}

var policies = map[string]buffer.Policy{"switch": buffer.Switch, "fill": buffer.Fill, "ring": buffer.Ring}

func setBufPolicy(o *Options, value string) error {
	p, ok := policies[value]
	if !ok {
		return fmt.Errorf("%q is neither switch, fill nor ring", value)
	}
	o.BufPolicy = p
	return nil
}

func setFormat(o *Options, value string) error {
	if value != "text" && value != "json" {
		return fmt.Errorf("%q is neither text nor json", value)
	}
	o.JSON = value == "json"
	return nil
}

func setEncoding(o *Options, value string) error {
	if value != "ascii" && value != "utf8" {
		return fmt.Errorf("%q is neither ascii nor utf8", value)
	}
	o.UTF8 = value == "utf8"
	return nil
}

func setResize(o *Options, value string) error {
	if value != "auto" && value != "manual" {
		return fmt.Errorf("%q is neither auto nor manual", value)
	}
	o.Resize = value == "auto"
	return nil
}

// maxNumber is the largest position of a key or aggregation, and the most blanks before a frame.
const maxNumber = 1000

// number takes a position or a number of blanks.
func number(field func(*Options) *int) func(*Options, string) error {
	return func(o *Options, value string) error {
		n, err := strconv.ParseUint(value, 0, 32)
		if err != nil || n > maxNumber {
			return fmt.Errorf("%q is not a number from 0 to %d", value, maxNumber)
		}
		*field(o) = int(n)
		return nil
	}
}

// setCPU takes the number of a CPU. How many the guest has is known when the trace starts.
func setCPU(o *Options, value string) error {
	n, err := strconv.ParseUint(value, 10, 16)
	if err != nil {
		return fmt.Errorf("%q is not the number of a CPU", value)
	}
	o.CPU = int(n)
	return nil
}

// cppArg adds an argument for the preprocessor.
func cppArg(letter string) func(*Options, string) error {
	return func(o *Options, value string) error {
		if value == "" {
			return errors.New("it needs a value")
		}
		o.Cpp.Args = append(o.Cpp.Args, letter+value)
		return nil
	}
}

// setStandard makes the preprocessor that of K&R for s. It is one of ISO C for the others.
func setStandard(o *Options, value string) error {
	switch value {
	case "s":
		o.Cpp.Args = append(o.Cpp.Args, "-traditional-cpp")
	case "a", "c", "t":
	default:
		return fmt.Errorf("%q is not possible here, only a, c, s or t", value)
	}
	return nil
}

func addLibDir(o *Options, value string) error {
	o.LibDirs = append(o.LibDirs, value)
	return nil
}
