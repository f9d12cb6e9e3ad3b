package main

// memory measures peak memory. The boot of the same guest has the guest's RAM, as far as
// it is touched, the code buffer, as far as it is filled, and the program itself; what
// dtrace has beyond that is tracing. The aim is kept for the whole of dtrace's memory,
// which is more than what it is about.
func memory(b *bench) ([]row, error) {
	const most = 500 // MB beyond guest RAM and code buffer
	traced := []struct{ name, program string }{
		{"one instruction", "kinst::vfs_read:0 { @ = count(); }"},
		{"all of the system calls", "kinst::__x64_sys_*: { @ = count(); }"},
		{"the first of every function", "kinst::*:0 { @ = count(); }"},
	}
	commands := []command{b.quiet("boot", "-q", "--no-snapshot", "-c", "true", debian)}
	for _, t := range traced {
		commands = append(commands, b.quiet("dtrace", "-q", "-k", debian, "--no-snapshot", "-c", "true", "-n", t.program))
	}
	us, err := rounds(b.count(3), commands...)
	if err != nil {
		return nil, err
	}
	var rows []row
	boot := rssOf(us[0])
	for i, t := range traced {
		rss := rssOf(us[i+1])
		beyond := pairwise(rss, boot, less)
		rows = append(rows, row{Name: t.name, A: rss, B: boot, Unit: "MB", Result: beyond, Of: "MB", Aim: atMost(most)})
	}
	rows[len(rows)-1].Note = "result: A - B. The guest has 256 MiB of RAM and a code buffer of 256 MiB; both count as far as they are used."
	return rows, nil
}
