package guestos

import (
	"encoding/binary"

	"trapline/kernel"
)

// freebsdCalls are FreeBSD's: functions in the table sysent, under the names in syscallnames. A function
// gets the thread and the address of its arguments, which the kernel has copied there, and may serve
// several calls: nosys serves all that a kernel lacks. What a loaded module puts into the table later
// is not looked at.
var freebsdCalls = &Calls{
	Find:   findFreebsdCalls,
	Module: ModuleName{"freebsd", "kernel"},
	State: &CallState{
		Tag: "thread", Number: []string{"td_sa", "code"}, Result: []string{"td_uretoff", "tdu_retval"},
	},
}

// Of struct sysent, sys/sysent.h, on 64-bit machines: its size. It begins with the function.
const sysentSize = 32

// maxFreebsdCalls bounds the number of calls.
const maxFreebsdCalls = 4096

func findFreebsdCalls(symbols Symbols, read Reader) (t CallTable) {
	m := memory(read)
	table, names := m.object(symbols, "sysent"), m.object(symbols, "syscallnames")
	functions := map[uint64]kernel.Symbol{}
	for _, s := range symbols.Glob("*") {
		if _, ok := functions[s.Addr]; !ok && !s.Label {
			functions[s.Addr] = s
		}
	}
	t.Numbers = map[string][]int{}
	for n := 0; len(table) >= sysentSize && len(names) >= 8 && n < maxFreebsdCalls; n++ {
		f, ok := functions[binary.LittleEndian.Uint64(table)]
		f.Name = m.text(binary.LittleEndian.Uint64(names))
		if ok && f.Name != "" {
			if t.Numbers[f.Name] == nil {
				t.Functions = append(t.Functions, f)
			}
			t.Numbers[f.Name] = append(t.Numbers[f.Name], n)
		}
		table, names = table[sysentSize:], names[8:]
	}
	return t
}

// object is what a symbol names, nil if it is not there, too long, or cannot be read.
func (m memory) object(symbols Symbols, name string) []byte {
	for _, s := range symbols.Lookup(name) {
		if s.Size > 0 && s.Size <= maxFreebsdCalls*sysentSize {
			return m.words(s.Addr, int(s.Size))
		}
	}
	return nil
}
