package images

import (
	_ "embed"
	"strings"
)

//go:embed init/init-arm64
var initARM64 []byte

var debianARM64 = image{
	spec: Spec{
		Name:        "debian/arm64",
		Arch:        "arm64",
		OS:          "linux",
		Description: "Debian's cloud kernel with debug information, and busybox",
		Append:      linuxNeeds.Append("arm64") + " " + arm64LinuxTuning,
		Memory:      defaultMemory,
		Workload:    "true",
	},
	origin: &debian{arch: "arm64", kernel: "linux-image-cloud-arm64", init: initARM64},
}

// arm64LinuxAppend is for our arm64 machine. The device tree describes all of that.
var arm64LinuxAppend = strings.Join([]string{
	"console=ttyAMA0", // the log goes to the first PL011; the second is the control channel
	"panic=-1",        // a panic resets the machine at once, by PSCI, instead of hanging it
}, " ")

// arm64LinuxTuning makes things simpler and faster.
var arm64LinuxTuning = strings.Join([]string{
	"nokaslr",           // the kernel stays where it was linked, as the ELF file does
	"norandmaps",        // the same for processes: each exec finds its code translated already
	"mitigations=off",   // an emulated CPU does not speculate; saves calls of the firmware at every entry
	"cryptomgr.notests", // self-tests of ciphers are a third of the boot
}, " ")
