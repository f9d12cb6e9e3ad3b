package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"strconv"
	"strings"

	"trapline/images"
	"trapline/images/initramfs"
)

// behindFtrace is the offset behind the room that ftrace has at the start of a function.
const behindFtrace = 5

// probeable are functions with an instruction at behindFtrace at which the kernel can be
// probed by itself, spread over all of it.
func (b *bench) probeable() ([]function, error) {
	const candidates = 2500
	list, err := b.output("dtrace", "-k", debian, "-l", "-n", fmt.Sprintf("kinst::*:%d", behindFtrace))
	if err != nil {
		return nil, err
	}
	all, err := b.addressed(spreadOver(parseList(list), candidates))
	if err != nil {
		return nil, err
	}
	const try = tracefs + "while read a; do if echo p:k/$a 0x$a >>kprobe_events; then echo $a; fi; done </addresses 2>/dev/null"
	var accepted bytes.Buffer
	c, err := b.prepare(script{name: "try", text: try, files: addresses(all)}, &accepted)
	if err != nil {
		return nil, err
	}
	if _, err := c(); err != nil {
		return nil, fmt.Errorf("finding functions that the kernel probes: %w", err)
	}
	ok := firstWords(accepted.String())
	var some []function
	for _, f := range all {
		if ok[f.inside()] {
			some = append(some, f)
		}
	}
	if len(some) < candidates/2 {
		return nil, fmt.Errorf("the kernel probes only %d of %d functions", len(some), candidates)
	}
	return some, nil
}

// A function of the kernel.
type function struct {
	name string
	addr uint64
}

// inside is the address of its instruction at behindFtrace, in hexadecimal.
func (f function) inside() string { return strconv.FormatUint(f.addr+behindFtrace, 16) }

// addressed finds functions in the kernel's symbol table.
func (b *bench) addressed(names []string) ([]function, error) {
	spec, err := images.Store{}.Open(debian)
	if err != nil {
		return nil, err
	}
	f, err := elf.Open(spec.Kernel)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", spec.Kernel, err)
	}
	at := map[string]uint64{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			at[s.Name] = s.Value
		}
	}
	var all []function
	for _, name := range names {
		if addr, ok := at[name]; ok {
			all = append(all, function{name, addr})
		}
	}
	return all, nil
}

// addresses is a file with what to probe in a guest, one on a line.
func addresses(functions []function) []initramfs.File {
	var t strings.Builder
	for _, f := range functions {
		fmt.Fprintln(&t, f.inside())
	}
	return []initramfs.File{{Path: "addresses", Contents: []byte(t.String())}}
}

func namesOf(functions []function) []string {
	var names []string
	for _, f := range functions {
		names = append(names, f.name)
	}
	return names
}
