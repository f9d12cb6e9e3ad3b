package images

import "strings"

// freebsdNeeds are FreeBSD's: its command line is the kernel's environment.
var freebsdNeeds = &Needs{
	OS: "freebsd",
	words: map[string]string{
		"amd64":   freebsdAMD64Append,
		"arm64":   freebsdARM64Prefix + freebsdVirtAppend,
		"riscv64": freebsdVirtAppend,
	},
	burst:  256,     // its driver has room for 384, and drops the rest
	ioapic: "amd64", // kernels as they are released know no other way to their devices
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

// freebsdAMD64Append is for our amd64 machine, whose devices ACPI describes. Its root is the memory
// disk that the boot loader hands over. The console has to be known before ACPI is.
var freebsdAMD64Append = strings.Join([]string{
	"console=comconsole", "vfs.root.mountfrom=ufs:/dev/md0", freebsdAlways,
	"hint.uart.0.at=isa", "hint.uart.0.port=0x3F8", "hint.uart.0.irq=4", "hint.uart.0.flags=0x10",
}, " ")
