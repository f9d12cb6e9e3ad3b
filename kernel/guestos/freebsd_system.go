package guestos

import (
	"regexp"
	"strings"

	"trapline/kernel"
)

// FreeBSD is what is known of all FreeBSD kernels.
var FreeBSD = &System{
	Name: "freebsd", Title: "FreeBSD",
	Is: func(tab *kernel.Symtab) bool {
		return tab.Lookup(freebsdStart) != nil && tab.Lookup(freebsdThread0) != nil
	},
	New:       newFreeBSD,
	PanicLine: freebsdPanicLine,
	Module:    ModuleName{"kernel", "vmlinux"},
	Banner:    "version",
	Start:     freebsdStart,
	ThreadTag: "thread",
	Debug:     "kernel.debug",
	Modules:   []string{".ko"},

	Calls:       freebsdCalls,
	Tracepoints: freebsdTracepoints,
	Libraries: []Library{
		freebsdLibrary("errno.d", "proc", "p_pid", `\bE[A-Z0-9]{2,}\b`),
		freebsdLibrary("signal.d", "proc", "p_pid", `\b(SIG[A-Z0-9]+|CLD_[A-Z]+)\b`),
		freebsdLibrary("socket.d", "proc", "p_pid", `\b(AF|SOCK)_[A-Z]`),
		freebsdLibrary("psinfo.d", "proc", "p_numthreads", `\b(psinfo_t|lwpsinfo_t|curpsinfo|curlwpsinfo|struct psinfo|struct lwpsinfo)\b`),
		freebsdLibrary("io.d", "bio", "bio_cmd", `\b(io:|bufinfo_t|devinfo_t|struct bufinfo|struct devinfo|[OB]I?O?_[A-Z]+|DEVSTAT_[A-Z]+|bio_cmd_string|bio_flag_string)`),
		freebsdLibrary("ip.d", "ip6_hdr", "ip6_src", `\b((ip|tcp|udp|udplite):|(pkt|cs|ip|if|ipv4|ipv6|tcps?|tcpls|tcpinfoh|udps?|udplites?)info_t|IPPROTO_|protocols\b|IFF_)`),
		freebsdLibrary("tcp.d", "tcpcb", "t_state", `\b(tcp:|(tcps|tcp|tcpls)info_t|tcpinfoh_t|TCPS_|TCP_STATE_|TH_|tcp_state_string)`),
		freebsdLibrary("udp.d", "inpcb", "inp_inc", `\b(udp|udplite):|(udps?|udplites?)info_t`),
	},
}

const (
	freebsdStart   = "mi_startup"
	freebsdThread0 = "thread0_st" // a struct thread, the first one
)

func freebsdLibrary(name, tag, member, names string) Library {
	return Library{name, libraryText("freebsd", name), tag, member, regexp.MustCompile(names)}
}

// freebsdPanicLine reports whether a line is a panic's first.
func freebsdPanicLine(line string) bool { return strings.HasPrefix(line, "panic: ") }
