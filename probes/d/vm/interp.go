package vm

import (
	"bytes"

	"trapline/probes/d/code"
)

// run runs one function. It returns the value that the function leaves, 0 where it leaves
// none; at a fault it is not ok and f.fault has the kind, the address and the offset.
//
// Nothing is checked that code.Verify has proven.
func (f *frame) run(fn *code.Func) (v uint64, ok bool) {
	st := f.stack
	sp := 0 // values on the stack; the top is st[sp-1]
	for pc := 0; pc < len(fn.Code); pc++ {
		in := &fn.Code[pc]
		ok := true
		switch in.Op {
		case code.OpNop:

		case code.OpPush:
			st[sp] = in.Imm
			sp++
		case code.OpStr:
			st[sp] = uint64(f.m.consts[in.Imm])
			sp++
		case code.OpDup:
			st[sp] = st[sp-1]
			sp++
		case code.OpDup2:
			st[sp], st[sp+1] = st[sp-2], st[sp-1]
			sp += 2
		case code.OpPop:
			sp--

		case code.OpAdd:
			sp--
			st[sp-1] += st[sp]
		case code.OpSub:
			sp--
			st[sp-1] -= st[sp]
		case code.OpMul:
			sp--
			st[sp-1] *= st[sp]
		case code.OpDivS, code.OpDivU, code.OpModS, code.OpModU:
			sp--
			st[sp-1], ok = f.divide(in.Op, st[sp-1], st[sp])
		case code.OpAnd:
			sp--
			st[sp-1] &= st[sp]
		case code.OpOr:
			sp--
			st[sp-1] |= st[sp]
		case code.OpXor:
			sp--
			st[sp-1] ^= st[sp]
		case code.OpShl:
			sp--
			st[sp-1] <<= st[sp] & 63
		case code.OpShrS:
			sp--
			st[sp-1] = uint64(int64(st[sp-1]) >> (st[sp] & 63))
		case code.OpShrU:
			sp--
			st[sp-1] >>= st[sp] & 63
		case code.OpNeg:
			st[sp-1] = -st[sp-1]
		case code.OpNot:
			st[sp-1] = ^st[sp-1]
		case code.OpLNot:
			st[sp-1] = truth(st[sp-1] == 0)

		case code.OpSext:
			unused := 64 - 8*in.N
			st[sp-1] = uint64(int64(st[sp-1]<<unused) >> unused)
		case code.OpZext:
			unused := 64 - 8*in.N
			st[sp-1] = st[sp-1] << unused >> unused

		case code.OpEq:
			sp--
			st[sp-1] = truth(st[sp-1] == st[sp])
		case code.OpNe:
			sp--
			st[sp-1] = truth(st[sp-1] != st[sp])
		case code.OpLtS:
			sp--
			st[sp-1] = truth(int64(st[sp-1]) < int64(st[sp]))
		case code.OpLeS:
			sp--
			st[sp-1] = truth(int64(st[sp-1]) <= int64(st[sp]))
		case code.OpGtS:
			sp--
			st[sp-1] = truth(int64(st[sp-1]) > int64(st[sp]))
		case code.OpGeS:
			sp--
			st[sp-1] = truth(int64(st[sp-1]) >= int64(st[sp]))
		case code.OpLtU:
			sp--
			st[sp-1] = truth(st[sp-1] < st[sp])
		case code.OpLeU:
			sp--
			st[sp-1] = truth(st[sp-1] <= st[sp])
		case code.OpGtU:
			sp--
			st[sp-1] = truth(st[sp-1] > st[sp])
		case code.OpGeU:
			sp--
			st[sp-1] = truth(st[sp-1] >= st[sp])
		case code.OpScmp:
			sp--
			st[sp-1] = uint64(bytes.Compare(f.bytes(st[sp-1]), f.bytes(st[sp])))

		case code.OpJmp:
			pc = int(in.Imm) - 1
		case code.OpJz:
			sp--
			if st[sp] == 0 {
				pc = int(in.Imm) - 1
			}
		case code.OpJnz:
			sp--
			if st[sp] != 0 {
				pc = int(in.Imm) - 1
			}

		case code.OpLoadS:
			st[sp-1], ok = f.load(st[sp-1], int(in.N), true)
		case code.OpLoadU:
			st[sp-1], ok = f.load(st[sp-1], int(in.N), false)
		case code.OpLoadStr:
			st[sp-1], ok = f.loadString(st[sp-1], int(in.Imm)-1)
		case code.OpLoadBytes:
			st[sp-1], ok = f.loadBytes(st[sp-1], int(in.Imm))

		case code.OpLoadGlobal:
			st[sp], ok = f.loadGlobal(in.Imm)
			sp++
		case code.OpLoadSelf:
			st[sp], ok = f.loadSelf(in.Imm)
			sp++
		case code.OpLoadThis:
			st[sp], ok = f.loadThis(in.Imm)
			sp++
		case code.OpStoreGlobal:
			st[sp-1] = f.storeGlobal(in.Imm, st[sp-1])
		case code.OpStoreSelf:
			st[sp-1], ok = f.storeSelf(in.Imm, st[sp-1])
		case code.OpStoreThis:
			st[sp-1] = f.storeThis(in.Imm, st[sp-1])

		case code.OpKey:
			sp -= len(f.m.prog.Vars[in.Imm].Keys) - 1
			st[sp-1], ok = f.arrayKey(in.Imm, st[sp-1:])
		case code.OpLoadArr:
			st[sp-1], ok = f.loadDyn(in.Imm, f.bytes(st[sp-1]))
		case code.OpStoreArr:
			sp--
			st[sp-1] = f.storeDyn(in.Imm, f.bytes(st[sp-1]), st[sp])

		case code.OpBound:
			if st[sp-1] >= in.Imm {
				ok = f.fail(BadAddr, st[sp-1])
			}
		case code.OpPartS, code.OpPartU, code.OpPartStr, code.OpPartBytes, code.OpPut, code.OpPutStr, code.OpPutBytes,
			code.OpPlace:
			n := f.m.partArgs(in)
			sp -= n - 1
			st[sp-1], ok = f.partOf(in, st[sp-1:sp-1+n])

		case code.OpArg:
			st[sp] = f.env.Arg(int(in.N))
			sp++
		case code.OpReg:
			st[sp] = f.env.Reg(int(in.Imm))
			sp++
		case code.OpUReg:
			st[sp] = f.env.UReg(int(in.Imm))
			sp++
		case code.OpBuiltin:
			st[sp], ok = f.builtin(code.Builtin(in.Imm))
			sp++
		case code.OpCall:
			sp -= int(in.N)
			v, ok = f.call(code.Sub(in.Imm), st[sp:sp+int(in.N)])
			if code.Sub(in.Imm).Leaves() {
				st[sp] = v
				sp++
			}
		case code.OpStore:
			sp--
			ok = f.store(st[sp-1], int(in.N), st[sp])
			st[sp-1] = st[sp]
		case code.OpStrAddr:
			st[sp-1], ok = f.stringAddr(st[sp-1], int(in.Imm))
		case code.OpLocal:
			st[sp], ok = f.local(f.m.prog.Strings[in.Imm])
			sp++
		case code.OpFrames:
			st[sp], ok = f.loadFrames(in.N == 1, int(in.Imm))
			sp++
		}
		if !ok {
			f.fault.Offset = pc
			return 0, false
		}
	}
	if sp == 0 {
		return 0, true
	}
	return st[sp-1], true
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func (f *frame) divide(op code.Op, x, y uint64) (v uint64, ok bool) {
	if y == 0 {
		return 0, f.fail(DivZero, 0)
	}
	switch op {
	case code.OpDivS:
		return uint64(int64(x) / int64(y)), true
	case code.OpDivU:
		return x / y, true
	case code.OpModS:
		return uint64(int64(x) % int64(y)), true
	}
	return x % y, true
}
