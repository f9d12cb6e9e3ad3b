package osfile

import (
	"fmt"
	"slices"
	"strings"

	"trapline/probes/d/code"
)

// suits fails where a name has a value of another kind than it should, or one that cannot be known when
// it is computed.
func suits(name string, fn *code.Func) error {
	text := name == execname || slices.Contains(constants, name)
	switch {
	case text && fn.Type.Kind != code.String:
		return fmt.Errorf("%s is not a string: inline string %[1]s = ...;", name)
	case !text && fn.Type.Kind != code.Int:
		return fmt.Errorf("%s is not an integer or a pointer", name)
	}
	for _, in := range fn.Code {
		if what := unknown(name, in); what != "" {
			return fmt.Errorf("%s asks for %s, which is not known there", name, what)
		}
	}
	return nil
}

// maxRegArgs is how many arguments of a function are in registers on every architecture.
const maxRegArgs = 6

// unknown says what an instruction asks for that is not known where name is computed, "" for nothing.
func unknown(name string, in code.Instr) string {
	constant := slices.Contains(constants, name)
	switch in.Op {
	case code.OpBuiltin:
		if b := code.Builtin(in.Imm); b != code.CPU || constant {
			return b.String()
		}
	case code.OpArg:
		if !strings.HasPrefix(name, sysArg) || int(in.N) >= maxRegArgs {
			return fmt.Sprintf("arg%d", in.N)
		}
	case code.OpReg, code.OpLoadS, code.OpLoadU, code.OpLoadStr, code.OpLoadBytes:
		if constant {
			return "the guest's registers or memory"
		}
	case code.OpLoadGlobal, code.OpLoadSelf, code.OpLoadThis, code.OpLoadArr, code.OpStoreGlobal, code.OpStoreSelf, code.OpStoreThis, code.OpStoreArr,
		code.OpPartS, code.OpPartU, code.OpPartStr, code.OpPartBytes, code.OpPut, code.OpPutStr, code.OpPutBytes, code.OpPlace:
		return "a variable of D's"
	case code.OpUReg:
		return "uregs[]"
	case code.OpCall:
		return code.Sub(in.Imm).String() + "()"
	case code.OpLocal, code.OpFrames:
		return "the probe"
	}
	return ""
}
