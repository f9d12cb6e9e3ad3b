package session_test

import (
	"fmt"
	"os"

	"trapline/kernel/arch"
	"trapline/kernel/guestos"
	"trapline/probes/d/syntax"
	"trapline/probes/front"
	"trapline/probes/probetest"
	"trapline/probes/session"
)

// nobody is a guest without threads.
type nobody struct{ guestos.OS }

func (nobody) System() *guestos.System { return guestos.Bare }

func (nobody) Unsafe(uint64) string { return "" }

func Example() {
	// A guest with one function: push %rbp; xor %eax,%eax; pop %rbp; ret.
	funcs, err := probetest.ParseFuncs("answer ffffffff81000000 55|31c0|5d|c3")
	if err != nil {
		fmt.Println(err)
		return
	}
	guest := probetest.New(arch.AMD64)
	guest.Map(funcs[0].Addr, funcs[0].Code)
	symbols := probetest.Symbols(funcs)

	s, err := session.New(session.Config{
		Target: guest, Symbols: symbols, Text: symbols.File, OS: nobody{}, Stdout: os.Stdout, Stderr: os.Stdout,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	program := front.Source{Kind: syntax.ByName, Text: `kinst::answer:1 { printf("%s of %s", probename, probefunc) }`}
	if err := s.Compile([]front.Source{program}, front.Macros{}); err != nil {
		fmt.Println(err)
		return
	}
	if err := s.Start(); err != nil {
		fmt.Println(err)
		return
	}
	guest.Run(0xffffffff81000000, 0xffffffff81000001, 0xffffffff81000003)
	if err := s.Finish(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// dtrace: description 'kinst::answer:1 ' matched 1 probe
	// CPU     ID                    FUNCTION:NAME
	//   0      4                         answer:1 1 of answer
}
