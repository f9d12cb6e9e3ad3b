package guestos

import (
	"regexp"

	"trapline/kernel"
)

// Linux is what is known of all Linux kernels.
var Linux = &System{
	Name: "linux", Title: "Linux",
	Is: func(tab *kernel.Symtab) bool {
		return tab.Lookup("linux_banner") != nil && tab.Lookup("init_task") != nil
	},
	New:         newLinux,
	PanicLine:   linuxPanicLine,
	Module:      ModuleName{"vmlinux", "kernel"},
	Banner:      linuxBanner,
	Start:       "start_kernel",
	ThreadTag:   "task_struct",
	Debug:       "vmlinux",
	Formats:     []string{"bzImage", "Image"},
	Modules:     []string{".ko", ".ko.gz", ".ko.xz", ".ko.zst"},
	Calls:       linuxCalls,
	Tracepoints: linuxTracepoints,
	Libraries: []Library{
		linuxLibrary("procfs.d", "task_struct", "group_leader", `\b(psinfo_t|lwpsinfo_t|curpsinfo|curlwpsinfo|struct psinfo|struct lwpsinfo|CLD_[A-Z]+|sched:|proc:)`),
		linuxLibrary("io.d", "request", "__data_len", `\b(bufinfo_t|devinfo_t|fileinfo_t|struct bufinfo|struct devinfo|struct fileinfo|B_READ|B_WRITE|io:)`),
		linuxLibrary("sched.d", "rq", "cpu", `\b(cpuinfo_t|struct cpuinfo|sched:)`),
		linuxLibrary("proc.d", "task_struct", "group_leader", `\bproc:`),
	},
}

const linuxBanner = "linux_banner"

func linuxLibrary(name, tag, member, names string) Library {
	return Library{name, libraryText("linux", name), tag, member, regexp.MustCompile(names)}
}
