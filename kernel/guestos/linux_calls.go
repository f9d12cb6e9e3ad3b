package guestos

import (
	"trapline/kernel"
	"trapline/kernel/arch"
)

// linuxCalls are Linux's: functions that take the caller's registers in memory or, on kernels without
// any, those in a table, which take the arguments themselves.
var linuxCalls = &Calls{Find: findLinuxCalls}

const linuxPlain = "sys_"

func findLinuxCalls(symbols Symbols, read Reader) (t CallTable) {
	for _, a := range arch.All {
		if row, ok := isas.Of(a); ok && row.callPrefix != "" {
			t.Prefixes = append(t.Prefixes, row.callPrefix)
			t.prefixed(symbols, row.callPrefix, func(kernel.Symbol) bool { return true })
		}
	}
	t.Prefixes = append(t.Prefixes, linuxPlain)
	if len(t.Functions) > 0 {
		t.Args = savedArgs
		return t
	}
	t.tabled(symbols, read, "sys_call_table", linuxPlain)
	return t
}
