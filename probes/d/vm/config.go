package vm

import (
	"fmt"

	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
)

// Config bounds what a program may use, in bytes unless it says otherwise.
type Config struct {
	CPUs         int           // number of CPUs of the guest
	BufSize      int           // bufsize: buffer of each CPU
	AggSize      int           // aggsize: all aggregations together
	DynVarSize   int           // dynvarsize: associative arrays and thread-local variables together
	NSpec        int           // nspec: number of speculations
	SpecSize     int           // specsize: buffer of each speculation on each CPU
	BufPolicy    buffer.Policy // bufpolicy: what becomes of records for which there is no room
	StrSize      int           // strsize: a string that a subroutine makes, with its NUL
	StackFrames  int           // stackframes: frames that stack() records when it does not say
	UStackFrames int           // ustackframes: the same of ustack()
}

// DefaultConfig is that of a trace that sets no options, of a guest with one CPU.
func DefaultConfig() Config {
	return Config{
		CPUs:         1,
		BufSize:      4 << 20,
		AggSize:      4 << 20,
		DynVarSize:   1 << 20,
		NSpec:        1,
		SpecSize:     32 << 10,
		StrSize:      code.DefaultStrSize,
		StackFrames:  20,
		UStackFrames: 20,
	}
}

var policies = map[string]buffer.Policy{"switch": buffer.Switch, "fill": buffer.Fill, "ring": buffer.Ring}

func (c *Config) setPolicy(value string) error {
	p, ok := policies[value]
	if !ok {
		return fmt.Errorf("option bufpolicy: %q is neither switch, fill nor ring", value)
	}
	c.BufPolicy = p
	return nil
}

// maxBytes bounds each of the sizes, and all speculations together.
const maxBytes = 1 << 32

// check fails where sizes that may be right alone are too large together.
func (c *Config) check() error {
	if c.NSpec > 0 && c.CPUs > 0 && c.SpecSize > maxBytes/c.NSpec/c.CPUs {
		return fmt.Errorf("options nspec and specsize: %d speculations of %d bytes take more than %d", c.NSpec, c.SpecSize, maxBytes)
	}
	return nil
}

// Set sets an option by its name in D. It reports whether the name is one of a size, and
// fails on a value that is none.
func (c *Config) Set(name, value string) (known bool, err error) {
	var p *int
	least, most := 1, maxBytes
	switch name {
	case "bufpolicy":
		return true, c.setPolicy(value)
	case "bufsize":
		p = &c.BufSize
	case "aggsize":
		p = &c.AggSize
	case "dynvarsize":
		p = &c.DynVarSize
	case "nspec":
		p, least, most = &c.NSpec, 0, 1<<16
	case "specsize":
		p = &c.SpecSize
	case "strsize":
		p, least, most = &c.StrSize, 2, code.MaxSize
	case "ustackframes":
		p, most = &c.UStackFrames, maxFrames
	case "stackframes":
		p, most = &c.StackFrames, maxFrames
	default:
		return false, nil
	}
	size, err := code.ParseSize(value)
	n := int(min(size, 1<<62))
	if err == nil && (n < least || n > most) {
		err = fmt.Errorf("%s is not from %d to %d", value, least, most)
	}
	if err != nil {
		return true, fmt.Errorf("option %s: %w", name, err)
	}
	*p = n
	return true, nil
}
