package verify

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"

	"trapline/emu"
)

// A History is what a run of a guest is compared by.
type History struct {
	Events      emu.Events
	Checkpoints []emu.Checkpoint
	End         string // in words
	Clock       uint64 // at the end, virtual nanoseconds
	State       [sha256.Size]byte
	Output      []byte // console and command
	Hits        uint64 // of breakpoints
}

// A Place is where two histories part, for a second look; -1 is nowhere.
type Place struct {
	Block      int // of JournalBlock events
	Checkpoint int
}

// Part finds where two histories part. Sums differ from the first different event on.
func Part(without, with *History) Place {
	return Place{
		Block:      firstDifference(without.Events.Sums, with.Events.Sums),
		Checkpoint: firstDifference(without.Checkpoints, with.Checkpoints),
	}
}

// firstDifference is the first index at which two lists are not the same, -1 if there is none.
func firstDifference[T comparable](a, b []T) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// A Footprint is what probes have changed of a guest's history.
type Footprint struct {
	Image       string
	Events      uint64 // system calls, exceptions and interrupts without probes
	Checkpoints int    // of memory and devices, the last one at the end
	Hits        uint64 // of breakpoints, with probes
	Output      int    // bytes
	End         string
	Clock       uint64 // at the end, virtual nanoseconds
	State       string // SHA-256 of all there is of the guest at the end
	Differences []Difference
}

// A Difference is the first of its sort.
type Difference struct {
	What          string // event, checkpoint, memory, end, output
	Index         uint64 // of the event or the checkpoint from 0, the physical address, or the byte of the output
	Without, With string
}

// NewFootprint compares two histories, which have the events of the block in which they part.
// Symbol is an address in words.
func NewFootprint(image string, without, with *History, symbol func(uint64) string) *Footprint {
	f := &Footprint{
		Image: image, Events: without.Events.Events, Checkpoints: len(without.Checkpoints), Hits: with.Hits,
		Output: len(without.Output), End: without.End, Clock: without.Clock, State: fmt.Sprintf("%x", without.State),
		Differences: []Difference{},
	}
	at := Part(without, with)
	if at.Block >= 0 {
		f.events(without.Events.Kept, with.Events.Kept, uint64(at.Block)*emu.JournalBlock, symbol)
	}
	if i := at.Checkpoint; i >= 0 {
		f.differ("checkpoint", uint64(i), checkpointText(without.Checkpoints, i), checkpointText(with.Checkpoints, i))
	}
	if a, b := without.endText(), with.endText(); a != b {
		f.differ("end", 0, a, b)
	}
	if i := firstDifference(without.Output, with.Output); i >= 0 {
		f.differ("output", uint64(i), outputText(without.Output, i), outputText(with.Output, i))
	}
	return f
}

func (f *Footprint) differ(what string, index uint64, without, with string) {
	f.Differences = append(f.Differences, Difference{what, index, without, with})
}

// events finds the first different one of a block that begins with event base.
func (f *Footprint) events(without, with []emu.Event, base uint64, symbol func(uint64) string) {
	i := firstDifference(without, with)
	text := func(list []emu.Event) string {
		if i < 0 || i >= len(list) {
			return "none"
		}
		e := list[i]
		return fmt.Sprintf("%s %d at %s, %s", e.Kind, e.Number, seconds(e.Clock), symbol(e.PC))
	}
	f.differ("event", base+uint64(max(i, 0)), text(without), text(with))
}

// Memory adds the first byte of memory that differs at the first different checkpoint.
func (f *Footprint) Memory(base uint64, without, with []byte) {
	if i := firstDifference(without, with); i >= 0 {
		f.differ("memory", base+uint64(i), bytesText(without, i), bytesText(with, i))
	}
}

func bytesText(b []byte, i int) string { return fmt.Sprintf("% x", b[min(i, len(b)):min(i+8, len(b))]) }

func outputText(b []byte, i int) string {
	line, _, _ := bytes.Cut(b[min(i, len(b)):], []byte("\n"))
	return fmt.Sprintf("%.60q", line)
}

func checkpointText(list []emu.Checkpoint, i int) string {
	if i >= len(list) {
		return "none"
	}
	return fmt.Sprintf("%x at %s", list[i].Hash[:8], seconds(list[i].At))
}

func (h *History) endText() string {
	return fmt.Sprintf("%s at %s, state %x", h.End, seconds(h.Clock), h.State[:8])
}

func seconds(ns uint64) string { return fmt.Sprintf("%d.%09d s", ns/1e9, ns%1e9) }

// WriteTo writes the report as text.
func (f *Footprint) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	checkpoints := "checkpoints"
	if f.Checkpoints == 1 {
		checkpoints = "checkpoint"
	}
	fmt.Fprintf(&b, "%d system calls, exceptions and interrupts\n%d %s of memory and devices\n%d bytes of output\n",
		f.Events, f.Checkpoints, checkpoints, f.Output)
	fmt.Fprintf(&b, "end: %s at %s\n%d hits of breakpoints\n", f.End, seconds(f.Clock), f.Hits)
	for _, d := range f.Differences {
		fmt.Fprintf(&b, "\n%s differs\n\twithout probes  %s\n\twith probes     %s\n", d.place(), d.Without, d.With)
	}
	if len(f.Differences) == 0 {
		b.WriteString("nothing differs\n")
	}
	return b.WriteTo(w)
}

// place is what differs, in words.
func (d Difference) place() string {
	switch d.What {
	case "event", "checkpoint":
		return fmt.Sprintf("%s %d", d.What, d.Index+1)
	case "memory":
		return fmt.Sprintf("memory at physical address %#x", d.Index)
	case "output":
		return fmt.Sprintf("output from byte %d on", d.Index)
	}
	return d.What
}
