package kinst

import (
	"slices"
	"strings"
	"testing"

	"trapline/kernel/arch"
	"trapline/probes"
	"trapline/probes/ktext"
	"trapline/probes/patch"
	"trapline/probes/probetest"
)

// Descriptions make probes when they name the provider, and find those that are there when they do
// not. Both have one language: what a pattern makes is what it finds.
func FuzzMadeFound(f *testing.F) {
	for _, pattern := range []string{"", "*", "vfs_*", "vfs_rea?", "[a-v]fs*", "[!v]*", "[^v]*", "[^w]*", "[", "[vfs", `\[vfs`, `vfs\_read`, "vfs_read[", "[]v]*", "[v-"} {
		for _, name := range []string{"vfs_read", "[vfs", "^v", "vfs_read["} {
			f.Add(pattern, name, pattern)
		}
	}
	f.Add("*", "f", "[0")
	f.Add("*", "f", "[^1]")
	f.Fuzz(func(t *testing.T, pattern, name, offset string) {
		if name == "" || strings.ContainsRune(pattern+offset, '-') && strings.HasSuffix(offset, "taken") {
			return
		}
		p := oneFunction(t, name)
		if _, err := p.Provide(probes.Desc{Provider: "kinst", Function: "*"}); err != nil {
			t.Fatal(err)
		}
		made, err := p.Provide(probes.Desc{Provider: "kinst", Function: pattern, Name: offset})
		if err != nil {
			made = nil // of something that was asked for by name, and is not there
		}
		found, err := p.Provide(probes.Desc{Function: pattern, Name: offset})
		if err != nil || !slices.Equal(made, found) {
			t.Errorf("%q:%q makes %d probes of %q and finds %d, %v", pattern, offset, len(made), name, len(found), err)
		}
	})
}

// oneFunction is a provider over a kernel of one function, of two instructions.
func oneFunction(t *testing.T, name string) *Provider {
	target := probetest.New(arch.AMD64)
	symbols := probetest.Symbols{{Name: name, Addr: 0xffffffff81000000, Code: []byte{0x90, 0xc3}, Offsets: []int{0, 1}}}
	target.Map(symbols[0].Addr, symbols[0].Code)
	set, err := patch.New(target, symbols.File, probes.SinkFunc(func(*probes.Firing) {}))
	if err != nil {
		t.Fatal(err)
	}
	p := New(probes.NewRegistry(), &ktext.Text{Set: set, Symbols: symbols, Arch: arch.AMD64}, arch.AMD64.Args)
	p.registry.Add(p)
	return p
}
