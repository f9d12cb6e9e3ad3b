package images

import "testing"

// Several CPUs need what the command line of one CPU switches off.
func TestAppendFor(t *testing.T) {
	const words = "console=ttyS0 acpi=off pci=off noapic nolapic tsc=reliable"
	for cpus, want := range map[int]string{1: words, 4: "console=ttyS0 pci=off noapic tsc=reliable"} {
		if got := linuxNeeds.AppendFor(cpus, words); got != want {
			t.Errorf("%d CPUs: %q, want %q", cpus, got, want)
		}
	}
}
