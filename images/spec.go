package images

import (
	"errors"
	"io/fs"

	archive "trapline/images/debian"
	"trapline/images/tiny"
)

// A State says where an image stands between its name and a guest that runs.
type State string

// The states of an image; the package comment says what they mean.
const (
	Embedded   State = "embedded"
	Fetched    State = "fetched"
	NotFetched State = "not fetched"
	Built      State = "built"
	NotBuilt   State = "not built"
	Damaged    State = "damaged"
	File       State = "file"
)

// Errors that Lookup, Get, Open and Path wrap.
var (
	// ErrUnknown is for a name that is neither an image nor a file.
	ErrUnknown = errors.New("unknown image")
	// ErrNotFetched is for an image that is known but neither fetched nor built, or damaged.
	ErrNotFetched = errors.New("not fetched")
	// ErrNetwork is for packages that cannot be had because no server answers.
	ErrNetwork = archive.ErrNetwork
	// ErrNoCache is for a user without a directory for the cache.
	ErrNoCache = errors.New("no directory for the cache")
)

// A Spec describes an image. Fields that are not known, or not there in its State,
// are empty.
type Spec struct {
	Name        string // as in the package comment, or the path of a kernel
	Arch        string // name of its arch.Arch; empty for a file
	OS          string // "tiny", "linux", "freebsd"; empty for a file
	Description string // one line
	State       State
	Version     string // of the package that was fetched: "6.1.192-2"
	Release     string // what the kernel calls itself: "6.1.0-56-cloud-amd64"

	Kernel     string // path of the ELF kernel to boot; empty if it is embedded
	KernelData []byte // the ELF kernel, if it is embedded; filled in by Open
	Compressed string // path of the same kernel as a boot loader takes it, which can move itself (KASLR)
	DebugFile  string // path of the ELF file with DWARF; empty: the kernel's own
	Initrd     Initrd // initial root file system; filled in by Open
	Append     string // command line of the kernel
	Memory     uint64 // bytes of RAM it should have
	Workload   string // what its init runs by default
	NoFirmware bool   // it starts in machine mode
	Disk       string // path of the image of its disk, empty if it needs none
	DiskData   []byte // content of its disk, nil if it needs none; filled in by Open

	Source fs.FS // the kernel's source, by the paths of its debug information; nil: not there

	Packages []Package    // where a fetched image comes from
	Files    []StoredFile // what it consists of in the cache
	Problem  string       // what is wrong with a damaged one
}

// known are the images that have a name, in the order of List.
var known = []image{
	debianAMD64, debianARM64, debian13AMD64, debian13ARM64, linuxRISCV64, linuxRISCV64Full,
	freebsdAMD64, freebsdARM64, freebsdRISCV64,
	tinyAMD64, tinyARM64, tinyRISCV64, tinyRISCV64M,
}

// An image is what is known of a guest before anything is fetched.
type image struct {
	spec     Spec
	embedded string // the kernel's name in package tiny, if it is embedded,
	origin   origin // or where it comes from
}

var (
	tinyAMD64    = tinyImage("amd64")
	tinyARM64    = tinyImage("arm64")
	tinyRISCV64  = tinyImage("riscv64")
	tinyRISCV64M = machineModeTiny()
)

func tinyImage(arch string) image {
	return image{
		spec: Spec{
			Name:        "tiny/" + arch,
			Arch:        arch,
			OS:          "tiny",
			Description: "teaching kernel, part of trapline",
			State:       Embedded,
			Memory:      64 << 20,
			Source:      tiny.Source(),
			Workload:    "uname; awkward; shapes; forks 3; echo done",
		},
		embedded: arch,
	}
}

// machineModeTiny starts as teaching kernels for riscv64 do: in machine mode, without
// firmware, and reads its programs from a disk.
func machineModeTiny() image {
	im := tinyImage("riscv64")
	im.embedded = "riscv64-m"
	im.spec.Name = "tiny/riscv64-m"
	im.spec.Description = "the same without firmware, programs on a disk"
	im.spec.NoFirmware = true
	return im
}
