package probetest

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"trapline/kernel"
)

// A Func is a function of a test: its code, and where its instructions begin.
type Func struct {
	Name    string
	Addr    uint64
	Code    []byte
	Offsets []int
}

// ParseFuncs reads functions from text, one a line: name, address in hexadecimal, code in
// hexadecimal with a | between instructions. What follows a # is a comment.
func ParseFuncs(text string) ([]Func, error) {
	var funcs []Func
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		f, err := parseFunc(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		funcs = append(funcs, f)
	}
	return funcs, nil
}

func parseFunc(words []string) (Func, error) {
	if len(words) != 3 {
		return Func{}, fmt.Errorf("%d words, want name, address and code", len(words))
	}
	addr, err := strconv.ParseUint(words[1], 16, 64)
	if err != nil {
		return Func{}, err
	}
	f := Func{Name: words[0], Addr: addr}
	for _, instr := range strings.Split(words[2], "|") {
		code, err := hex.DecodeString(instr)
		if err != nil {
			return Func{}, err
		}
		f.Offsets = append(f.Offsets, len(f.Code))
		f.Code = append(f.Code, code...)
	}
	return f, nil
}

// Symbols is a symbol table made of functions. Nearest knows all of them.
type Symbols []Func

func (f Func) symbol() kernel.Symbol {
	return kernel.Symbol{Name: f.Name, Addr: f.Addr, Size: uint64(len(f.Code)), Func: true}
}

// Lookup finds the functions of a name.
func (s Symbols) Lookup(name string) []kernel.Symbol {
	return s.find(func(f Func) bool { return f.Name == name })
}

// Glob finds functions, one for each address.
func (s Symbols) Glob(pattern string) []kernel.Symbol {
	seen := map[uint64]bool{}
	return s.find(func(f Func) bool {
		ok := kernel.Match(pattern, f.Name) && !seen[f.Addr]
		seen[f.Addr] = seen[f.Addr] || ok
		return ok
	})
}

func (s Symbols) find(ok func(Func) bool) []kernel.Symbol {
	var out []kernel.Symbol
	for _, f := range s {
		if ok(f) {
			out = append(out, f.symbol())
		}
	}
	return out
}

// At finds the function that covers an address.
func (s Symbols) At(addr uint64) (kernel.Symbol, bool) {
	for _, f := range s {
		if addr-f.Addr < uint64(len(f.Code)) {
			return f.symbol(), true
		}
	}
	return kernel.Symbol{}, false
}

// Nearest gives the first n names.
func (s Symbols) Nearest(_ string, n int) []string {
	var out []string
	for _, f := range s[:min(n, len(s))] {
		out = append(out, f.Name)
	}
	return out
}

// File reads the functions as an image file has them: bytes between them are missing.
func (s Symbols) File(addr uint64, p []byte) error {
	for _, f := range s {
		if off := addr - f.Addr; off < uint64(len(f.Code)) && off+uint64(len(p)) <= uint64(len(f.Code)) {
			copy(p, f.Code[off:])
			return nil
		}
	}
	return fmt.Errorf("no text at %#x", addr)
}
