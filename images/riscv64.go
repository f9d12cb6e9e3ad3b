package images

import (
	_ "embed"
	"strings"
)

//go:embed init/init-riscv64
var initRISCV64 []byte

// The options of the two kernels: linux/riscv64.config is the least that runs a
// shell and can be traced, the other one has what makes a kernel change its own text.
var (
	//go:embed linux/riscv64.config
	riscv64Config string
	//go:embed linux/riscv64-full.config
	riscv64FullConfig string
)

var (
	linuxRISCV64 = riscv64Image("linux/riscv64",
		"small Linux built from Debian's source, and busybox", riscv64Config)
	linuxRISCV64Full = riscv64Image("linux/riscv64-full",
		"the same with ftrace, kprobes, jump labels, modules, SMP", riscv64FullConfig)
)

func riscv64Image(name, description, config string) image {
	return image{
		spec: Spec{
			Name:        name,
			Arch:        "riscv64",
			OS:          "linux",
			Description: description,
			Append:      linuxNeeds.Append("riscv64") + " " + riscv64LinuxTuning,
			Memory:      defaultMemory,
			Workload:    "true",
		},
		origin: &built{arch: "riscv", cross: "riscv64-linux-gnu-", config: config, init: initRISCV64},
	}
}

// riscv64LinuxAppend is for our riscv64 machine, of which the device tree describes
// everything.
var riscv64LinuxAppend = strings.Join([]string{
	"console=ttyS0", // the log goes to the first UART; the second is the control channel
	"panic=-1",      // a panic resets the machine at once, by SBI, instead of hanging it
}, " ")

// riscv64LinuxTuning makes things faster.
const riscv64LinuxTuning = "norandmaps" // each exec finds its code where it was, translated already
