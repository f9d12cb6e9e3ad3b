package images

import (
	"context"
	_ "embed"
	"path/filepath"
	"strings"
)

// debian says how an image is made of Debian's packages.
type debian struct {
	arch   string // Debian's name of the architecture
	kernel string // the package that depends on the newest kernel
	init   []byte // our init for that architecture
	suite  string // code name of Debian's release; empty for the one that the host has
}

//go:embed init/init-amd64
var initAMD64 []byte

var debianAMD64 = image{
	spec: Spec{
		Name:        "debian/amd64",
		Arch:        "amd64",
		OS:          "linux",
		Description: "Debian's cloud kernel with debug information, and busybox",
		Append:      linuxNeeds.Append("amd64") + " " + amd64LinuxTuning,
		Memory:      defaultMemory,
		Workload:    "true",
	},
	origin: &debian{arch: "amd64", kernel: "linux-image-cloud-amd64", init: initAMD64},
}

var (
	debian13AMD64 = debian13(debianAMD64)
	debian13ARM64 = debian13(debianARM64)
)

// debian13 is the image with Debian 13's kernel, whatever the host is.
func debian13(im image) image {
	d := *im.origin.(*debian)
	d.suite = "trixie"
	im.origin = &d
	im.spec.Name = "debian13/" + im.spec.Arch
	im.spec.Description = "the same from Debian 13: Linux 6.12"
	return im
}

// amd64LinuxAppend is for our amd64 machine, which has two UARTs, an i8254, two i8259 and
// a CMOS clock, and nothing else.
var amd64LinuxAppend = strings.Join([]string{
	"console=ttyS0", // the log goes to the first UART; the second is the control channel
	"panic=-1",      // a panic resets the machine at once instead of hanging it,
	"reboot=k",      // through the keyboard controller, the only reset there is

	// What the machine does not have is not looked for.
	"acpi=off", "pci=off", "noapic", "nolapic",

	// The time-stamp counter is the clock of the emulator, so it counts nanoseconds
	// and needs neither to be measured nor to be watched.
	"tsc_early_khz=1000000", "tsc=reliable",
}, " ")

// amd64LinuxTuning makes things simpler and faster.
var amd64LinuxTuning = strings.Join([]string{
	"nokaslr",           // a compressed kernel stays where it was linked, as the ELF file does
	"norandmaps",        // the same for processes: each exec finds its code translated already
	"mitigations=off",   // an emulated CPU does not speculate; saves two CR3 loads a system call
	"cryptomgr.notests", // self-tests of ciphers are a quarter of the boot
}, " ")

// The names of the files that an image keeps, beside the manifest.
const (
	fileVmlinux   = "vmlinux"    // ELF with DWARF; boots, too
	fileVmlinuz   = "vmlinuz"    // what Debian boots
	fileSystemMap = "System.map" // symbols as text
	fileConfig    = "config"     // how the kernel was configured
	fileBusybox   = "busybox"
)

const busyboxPackage = "busybox-static"

// A want is one package of an image and the files to keep of it: from the path in
// the package to the name in the image.
type want struct {
	pkg   string
	files map[string]string
}

// wants lists the packages of kernel release. The largest comes last, when the
// archives of the others are gone again.
func (d *debian) wants(release string) []want {
	const debug = "usr/lib/debug/boot/"
	return []want{
		{busyboxPackage, map[string]string{
			"bin/busybox":     fileBusybox,
			"usr/bin/busybox": fileBusybox, // from Debian 13 on
		}},
		{"linux-image-" + release, map[string]string{
			"boot/vmlinuz-" + release: fileVmlinuz,
			"boot/config-" + release:  fileConfig,
		}},
		{"linux-image-" + release + "-dbg", map[string]string{
			debug + "vmlinux-" + release:    fileVmlinux,
			debug + "System.map-" + release: fileSystemMap,
		}},
	}
}

func (d *debian) verb() string { return "get" }

func (d *debian) needs(context.Context) error { return nil }

func (d *debian) recipe(context.Context) (string, error) { return "", nil }

func (d *debian) place(spec *Spec, dir string) {
	spec.Kernel = filepath.Join(dir, fileVmlinux)
	spec.Compressed = filepath.Join(dir, fileVmlinuz)
	spec.DebugFile = spec.Kernel
}

func (d *debian) initrd(s Store, dir string) (Initrd, error) { return s.initrd(dir, d.init) }
