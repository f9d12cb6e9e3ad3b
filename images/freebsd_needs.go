package images

import (
	"fmt"
	"strings"
)

// freebsdNeeds are FreeBSD's: its command line is the kernel's environment.
var freebsdNeeds = &Needs{
	OS: "freebsd",
	words: map[string]string{
		"amd64":   freebsdAMD64Append,
		"arm64":   freebsdARM64Prefix + freebsdVirtAppend,
		"riscv64": freebsdVirtAppend,
	},
	// One CPU needs no ACPI, and the tables that describe several are not there.
	alone: []string{"hint.acpi.0.disabled=1"},
}

// freebsdInit is where our init is in the root file system of our images; a root of the user's has
// one of its own.
const freebsdInit = "/trapline/init"

// freebsdAlways are words for every machine: few ticks, and the program that runs first.
const freebsdAlways = "kern.hz=100 init_path=" + freebsdInit + ":/sbin/init"

// freebsdVirtAppend is for the machines that a device tree describes. Their root is the first disk.
const freebsdVirtAppend = "vfs.root.mountfrom=ufs:/dev/vtbd0 " + freebsdAlways

// freebsdARM64Prefix begins a command line that arm64's kernel takes for its own.
const freebsdARM64Prefix = "FreeBSD:"

// freebsdAMD64Append is for our amd64 machine, whose devices no table describes. Its root is the memory
// disk that the boot loader hands over.
var freebsdAMD64Append = strings.Join([]string{
	"console=comconsole", "vfs.root.mountfrom=ufs:/dev/md0", freebsdAlways, "hint.acpi.0.disabled=1",
	hint("uart", 0, 0x3f8, 4), "hint.uart.0.flags=0x10", // the console
	hint("uart", 1, 0x2f8, 3),
	hint("attimer", 0, 0x40, 0),
	hint("atrtc", 0, 0x70, 8),
}, " ")

// hint says where a device of an ISA bus is.
func hint(name string, unit, port, irq int) string {
	return fmt.Sprintf("hint.%[1]s.%[2]d.at=isa hint.%[1]s.%[2]d.port=%#[3]x hint.%[1]s.%[2]d.irq=%[4]d", name, unit, port, irq)
}
