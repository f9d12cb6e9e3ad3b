package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// guestOptions are the options of every command that runs a guest.
type guestOptions struct {
	image     string
	command   string
	initrd    string
	cmdline   string
	memory    string
	debugFile string
	input     string
	console   bool
	until     float64 // virtual seconds, 0 for no limit
	timeout   float64 // host seconds, 0 for no limit
	stats     bool
}

func (o *guestOptions) imageFlag(f *pflag.FlagSet) {
	f.StringVarP(&o.image, "image", "k", "tiny/amd64", "`IMAGE` to run: a name of 'image ls' or the path of a kernel")
}

func (o *guestOptions) add(f *pflag.FlagSet) {
	f.StringVarP(&o.command, "command", "c", "", "shell `LINE` for the guest's init; the guest powers off when it ends")
	f.StringVar(&o.initrd, "initrd", "", "initial RAM disk `FILE` instead of the image's")
	f.StringVar(&o.cmdline, "append", "", "`WORDS` to add to the kernel's command line")
	f.StringVar(&o.memory, "memory", "", "guest memory: `SIZE` in MiB, or with K, M, G")
	f.StringVar(&o.debugFile, "debug-file", "", "ELF `FILE` with the kernel's symbols")
	f.StringVar(&o.input, "input", "", "`FILE` with bytes for the guest's console")
	f.BoolVar(&o.console, "console", false, "show the kernel's log on stderr")
	f.Float64Var(&o.until, "until", 0, "stop the guest after `VSEC` seconds of its own time")
	f.Float64Var(&o.timeout, "timeout", 0, "stop the guest after `SEC` seconds of the host's time")
	f.BoolVar(&o.stats, "stats", false, "end with a line of figures on stderr")
}

func (o *guestOptions) check() error {
	for name, v := range map[string]float64{"--until": o.until, "--timeout": o.timeout} {
		if v < 0 || math.IsNaN(v) || v > 1e9 {
			return usagef("%s %v: it must be a number of seconds from 0 to 1e9", name, v)
		}
	}
	return nil
}

func seconds(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }

// parseSize reads a size in MiB, or with a unit in bytes. The result is in bytes.
func parseSize(s string) (uint64, error) {
	units := map[string]uint64{"": 1 << 20, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
	digits := strings.TrimRight(s, "kKmMgG")
	n, err := strconv.ParseUint(digits, 10, 32)
	unit, ok := units[strings.ToUpper(s[len(digits):])]
	if err != nil || !ok {
		return 0, fmt.Errorf("size %q: it must be a number of MiB, or a number with K, M or G", s)
	}
	return n * unit, nil
}
