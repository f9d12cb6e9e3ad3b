package guestos

import "strings"

// A Thunk is kernel code that replaces one instruction, a return or a jump through a register, as a
// defence against speculation. Compiled code jumps to it.
type Thunk struct {
	Return bool
	Reg    string // the register of a jump, by its name in package arch; "" for a return
}

// returnThunks and indirectThunks are Linux's names for thunks on amd64, the only architecture that
// has them.
var (
	returnThunks   = []string{"__x86_return_thunk", "its_return_thunk", "retbleed_return_thunk", "srso_return_thunk", "srso_alias_return_thunk", "call_depth_return_thunk"}
	indirectThunks = []string{"__x86_indirect_thunk_", "__x86_indirect_its_thunk_", "__x86_indirect_jump_thunk_", "__x86_indirect_call_thunk_"}
)

// ThunkOf reports whether a symbol is a thunk, by its name.
func ThunkOf(symbol string) (Thunk, bool) {
	for _, name := range returnThunks {
		if symbol == name {
			return Thunk{Return: true}, true
		}
	}
	for _, prefix := range indirectThunks {
		if reg, ok := strings.CutPrefix(symbol, prefix); ok {
			return Thunk{Reg: reg}, true
		}
	}
	return Thunk{}, false
}
