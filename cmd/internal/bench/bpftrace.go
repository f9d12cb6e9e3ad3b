package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// oneLiner is a trace that is over at once: most of it is getting there.
const oneLiner = "one-liner"

// underBPF compares with bpftrace, in the same kernel under QEMU: Debian's package, in the guest's
// root. Where that cannot be had a row says so.
func underBPF(b *bench) ([]row, error) {
	if _, err := exec.LookPath(debianReference.program); err != nil {
		return nil, errors.New(debianReference.missing())
	}
	root, err := b.packaged("bpftrace")
	if err != nil {
		return []row{{Note: fmt.Sprintf("bpftrace cannot be had here: %v", err)}}, b.ctx.Err()
	}
	inside, err := b.secondInstr("vfs_read")
	if err != nil {
		return nil, err
	}
	theirs, err := b.prepare(script{name: "bpftrace", text: bpftrace(ways(inside)), root: root, memory: 2 << 30}, io.Discard)
	if err != nil {
		return nil, err
	}
	const sameLine = "kinst::vfs_read:0 { @[execname] = count(); }"
	ours, err := b.ourHit()
	if err != nil {
		return nil, err
	}
	us, err := rounds(b.count(3), theirs, ours, b.quiet("dtrace", "-q", "-k", debian, "-c", "ls /", "-n", sameLine))
	if err != nil {
		return nil, err
	}
	line := row{Name: "a one-liner over ls, start to end", A: cpuOf(us[2]), B: spanOf(us[0], oneLiner), Unit: "s", Aim: atMost(1)}
	line.Result = pairwise(line.A, line.B, ratio)
	return append(hitsOfVFSRead(ways(inside), us[1], us[0]), line), nil
}

// bpftrace is the script of a guest that has bpftrace count hits of vfs_read in each way. That it
// has counted them is checked.
func bpftrace(ways []way) string {
	var t strings.Builder
	t.WriteString(tracefs)
	fmt.Fprintln(&t, span(oneLiner, "bpftrace -c '/bin/ls /' -e 'kprobe:vfs_read { @[comm] = count(); }'"))
	fmt.Fprintln(&t, span("reads", reads))
	for _, w := range ways {
		fmt.Fprintln(&t, w.tune)
		fmt.Fprintf(&t, "echo 'set -e; sleep 1; grep -q %s /sys/kernel/debug/kprobes/list; %s' >/hits\n", w.list, span(w.span, reads))
		fmt.Fprintf(&t, "bpftrace -c '/bin/sh /hits' -e 'kprobe:vfs_read+%s { @ = count(); }' | tee /out\n", w.at)
		fmt.Fprintf(&t, "[ $(awk '/^@/ { print $2 }' /out) -ge %d ]\n", readCount)
	}
	return t.String()
}
