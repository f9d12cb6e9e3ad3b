package guestos

import "trapline/kernel"

// linuxCalls are Linux's: functions that take the caller's registers in memory or, on kernels without
// any, those in a table, which take the arguments themselves.
var linuxCalls = &Calls{Find: findLinuxCalls, Prefixes: append(linuxWrappers, linuxPlain)}

var linuxWrappers = []string{"__x64_sys_", "__arm64_sys_", "__riscv_sys_"}

const linuxPlain = "sys_"

func findLinuxCalls(symbols Symbols, read Reader) (t CallTable) {
	for _, prefix := range linuxWrappers {
		t.prefixed(symbols, prefix, func(kernel.Symbol) bool { return true })
	}
	if len(t.Functions) > 0 {
		t.Args = savedArgs
		return t
	}
	t.tabled(symbols, read, "sys_call_table", linuxPlain)
	return t
}
