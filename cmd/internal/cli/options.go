package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"trapline/images"
	"trapline/kernel/arch"
	"trapline/kernel/guestos"
)

// guestOptions are the options of every command that runs a guest.
type guestOptions struct {
	image      string
	command    line
	initrd     string
	cmdline    string
	memory     size
	cpus       count
	order      interleaving
	debugFile  string
	osFile     string
	input      string
	disks      []string
	modules    []string
	moduleDir  string
	firmware   firmware
	console    bool
	until      seconds // of the guest's time, 0 for no limit
	timeout    seconds // of the host's time, 0 for no limit
	stats      bool
	noSnapshot bool
	sandbox    sandboxing
	profiling  profiling
}

// defaultImage is the guest of a command that names none: the environment's TRAPLINE_IMAGE,
// or the teaching kernel.
func defaultImage() string { return cmp.Or(os.Getenv("TRAPLINE_IMAGE"), "tiny/amd64") }

func (o *guestOptions) imageFlag(f *pflag.FlagSet) {
	f.StringVarP(&o.image, "image", "k", defaultImage(), "run `IMAGE`, a name of 'image ls' or the path of a kernel")
}

func (o *guestOptions) debugFlag(f *pflag.FlagSet) {
	f.StringVar(&o.debugFile, "debug-file", "", "read the kernel's symbols from the ELF `FILE`, if the kernel has none")
}

// bootFlags are those on which the state after a boot depends.
func (o *guestOptions) bootFlags(f *pflag.FlagSet) {
	f.StringVar(&o.initrd, "initrd", "", "use the initial RAM disk `FILE` instead of the image's")
	f.StringVar(&o.cmdline, "append", "", "add `WORDS` to the kernel's command line")
	f.Var(&o.memory, "memory", "give the guest memory of `SIZE` MiB, or with K, M, G")
	f.StringArrayVar(&o.modules, "module", nil, "put the loadable module `FILE` into the guest's root directory; may be repeated")
	f.Var(&o.cpus, "cpus", "give the guest `N` CPUs, 1 to 8")
	o.debugFlag(f)
}

func (o *guestOptions) add(f *pflag.FlagSet) {
	f.VarP(&o.command, "command", "c", "have the guest's init run the shell `LINE`, then power off")
	o.bootFlags(f)
	o.order.add(f)
	f.StringVar(&o.osFile, "os", "", "learn from the D `FILE` what threads, processes and system calls are in your own kernel")
	f.StringVar(&o.input, "input", "", "feed the bytes of `FILE` to the guest's console")
	f.StringArrayVar(&o.disks, "disk", nil, "attach a disk with the content of `FILE`, which stays as it is; may be repeated (arm64, riscv64)")
	f.Var(&o.firmware, "firmware", "start the firmware `FILE`, such as OpenSBI's, before the kernel; none enters the kernel, an ELF file, in machine mode (riscv64)")
	f.BoolVar(&o.console, "console", false, "show the kernel's log on stderr")
	f.Var(&o.until, "until", "stop the guest after `VSEC` seconds of its own time (0: when it has said nothing for 100,000)")
	f.Var(&o.timeout, "timeout", "stop the guest after `SEC` seconds of the host's time (0: never)")
	f.BoolVar(&o.stats, "stats", false, "print a line of figures on stderr at the end")
	f.BoolVar(&o.noSnapshot, "no-snapshot", false, "boot the guest; use nothing that earlier runs have saved")
	o.sandboxFlag(f)
	o.profiling.add(f)
}

// kernelFiles is what help says about -k and the path of a kernel.
func kernelFiles() string {
	var words, debug strings.Builder
	for _, s := range guestos.Systems {
		needs := images.NeedsOf(s.Name)
		if needs == nil {
			continue
		}
		fmt.Fprintf(&words, wordNotes, s.Title)
		for _, a := range arch.All {
			fmt.Fprintf(&words, "  %-8s %s\n", a, needs.Append(a.Name))
		}
		fmt.Fprintf(&debug, debugNotes, s.Debug)
	}
	return fmt.Sprintf(kernelNotes, &words, &debug)
}

const (
	kernelNotes = `A kernel given by its path has no root file system of its own: give it one with --initrd. With -c
but without --initrd it gets the root file system of an image for its architecture, if there is one.
%s
A compressed kernel (vmlinuz) for amd64 moves itself; --append nokaslr keeps it where it was linked.
One for another architecture moves with --append kaslr. %s`
	wordNotes = `The machine needs these words on the command line of a %s kernel; those of --append follow them:
`
	debugNotes = `To trace a compressed kernel, name its
%s with --debug-file.
`
)

// A line is a command for the guest's shell. It may not be empty.
type line string

func (l *line) String() string { return string(*l) }
func (l *line) Type() string   { return "string" }

func (l *line) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return usagef("-c: the command is empty")
	}
	*l = line(s)
	return nil
}

// A firmware is "" for the machine's own, "none", or a file.
type firmware string

const noFirmware = "none"

func (w *firmware) String() string { return string(*w) }
func (w *firmware) Type() string   { return "file" }

func (w *firmware) Set(s string) error {
	if _, err := os.Stat(s); err != nil && s != noFirmware {
		return usagef("--firmware %q: no such file; only none is accepted besides (default: the machine's own firmware)", s)
	}
	*w = firmware(s)
	return nil
}

// load reads the file, nil if there is none.
func (w firmware) load() ([]byte, error) {
	if w == "" || w == noFirmware {
		return nil, nil
	}
	data, err := os.ReadFile(string(w))
	if err != nil {
		return nil, fmt.Errorf("reading the firmware: %w", err)
	}
	return data, nil
}

// seconds are host or virtual seconds.
type seconds float64

// longest is more than 30 years.
const longest = 1e9

func (s *seconds) String() string { return strconv.FormatFloat(float64(*s), 'g', -1, 64) }
func (s *seconds) Type() string   { return "seconds" }

func (s *seconds) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= longest) {
		return fmt.Errorf("it must be a number of seconds from 0 to 1e9")
	}
	*s = seconds(v)
	return nil
}

func (s seconds) nanoseconds() uint64     { return uint64(s * 1e9) }
func (s seconds) duration() time.Duration { return time.Duration(s * 1e9) }

// A size is in bytes; 0 stands for what the image wants.
type size uint64

func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(*s), 10)
}

func (s *size) Type() string { return "size" }

// Set reads a size in MiB, or with a unit.
func (s *size) Set(text string) error {
	units := map[string]uint64{"": 1 << 20, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
	digits := strings.TrimRight(text, "kKmMgG")
	n, err := strconv.ParseUint(digits, 10, 32)
	unit, ok := units[strings.ToUpper(text[len(digits):])]
	switch {
	case err != nil || !ok:
		return usagef("--memory: size %q: it must be a number of MiB, or a number with K, M or G", text)
	case n == 0:
		return errors.New("a guest needs some memory")
	}
	*s = size(n * unit)
	return nil
}
