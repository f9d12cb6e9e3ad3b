package main

import (
	"errors"
	"fmt"
)

// A whole is an image all of whose instructions are probed.
type whole struct {
	image string
	aim   float64 // seconds of CPU: twice what a prototype took, which did nothing at a hit
}

var wholes = []whole{{debian, 100}, {"debian/arm64", 142}, {"linux/riscv64", 44}}

// everyInstruction measures boots in which every instruction is counted that can be probed,
// from the first on. The guest must not notice.
func everyInstruction(b *bench) ([]row, error) {
	var rows []row
	var errs []error
	for _, w := range wholes {
		r, err := b.everyInstructionOf(w)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", w.image, err))
			continue
		}
		rows = append(rows, r)
	}
	return rows, errors.Join(errs...)
}

func (b *bench) everyInstructionOf(w whole) (row, error) {
	var with, without stats
	us, err := rounds(b.count(1),
		b.keeping(&with, "dtrace", "-q", "--stats", "-k", w.image, "--from", "boot", "--no-snapshot", "-c", "true", "-n", "kinst::*: "+counting),
		b.keeping(&without, "boot", "-q", "--stats", "--no-snapshot", "-c", "true", w.image))
	if err != nil {
		return row{}, err
	}
	if with.clock != without.clock || with.state != without.state {
		return row{}, fmt.Errorf("the guest noticed: clock and state are %d %s, and without probes %d %s",
			with.clock, with.state, without.clock, without.state)
	}
	cpu := cpuOf(us[0])
	return row{
		Name: w.image, A: cpu, B: cpuOf(us[1]), Unit: "s", Result: cpu, Of: "s", Aim: atMost(w.aim),
		Note: fmt.Sprintf("%d hits, %s MB at the peak; clock and state are those of the boot without", with.hits, number(median(rssOf(us[0])))),
	}, nil
}
