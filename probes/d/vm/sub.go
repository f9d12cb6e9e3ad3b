package vm

import (
	"bytes"
	"math"
	"strconv"

	"trapline/probes/d/code"
)

// call runs a subroutine on its arguments, as code.Sub describes it.
func (f *frame) call(s code.Sub, args []uint64) (v uint64, ok bool) {
	switch s {
	case code.SubCopyinstr:
		n := uint64(f.m.cfg.StrSize - 1)
		return f.loadString(args[0], int(min(n, optional(args, 1, n))))
	case code.SubAlloca, code.SubCopyin, code.SubBcopy, code.SubCopyinto, code.SubCopyout, code.SubCopyoutstr:
		return f.memory(s, args)
	case code.SubInetNtoa, code.SubInetNtoa6, code.SubInetNtop:
		return f.inet(s, args)
	case code.SubHtons, code.SubNtohs, code.SubHtonl, code.SubNtohl, code.SubHtonll, code.SubNtohll, code.SubGetmajor, code.SubGetminor:
		return convertInt(s, args[0]), true
	case code.SubMemstr:
		return f.memstr(args[0], byte(args[1]), args[2])
	case code.SubCleanpath:
		return f.cleanpath(f.bytes(args[0]))
	case code.SubJSON:
		return f.json(f.bytes(args[0]), f.bytes(args[1]))
	case code.SubStrtok:
		return f.strtok(args)
	case code.SubStrtoll:
		return f.strtoll(f.bytes(args[0]), optional(args, 1, 10))
	case code.SubProgenyof:
		return f.progenyof(int32(args[0]))
	case code.SubRand:
		return f.m.random(), true
	case code.SubSpeculation:
		return f.m.speculation(), true
	case code.SubLltostr:
		return f.lltostr(args[0], optional(args, 1, 10))
	case code.SubStrjoin:
		return f.strjoin(f.bytes(args[0]), f.bytes(args[1]))
	case code.SubTolower:
		return f.mapBytes(f.bytes(args[0]), 'A', 'Z')
	case code.SubToupper:
		return f.mapBytes(f.bytes(args[0]), 'a', 'z')
	case code.SubBasename:
		return f.keepCut(basename(f.bytes(args[0])))
	case code.SubDirname:
		return f.keepCut(dirname(f.bytes(args[0])))
	case code.SubStrlen:
		return uint64(code.Ref(args[0]).Len()), true
	case code.SubIndex, code.SubRindex:
		return uint64(f.index(s, args)), true
	}
	return f.part(s, args), true
}

func optional(args []uint64, i int, otherwise uint64) uint64 {
	if i < len(args) {
		return args[i]
	}
	return otherwise
}

// part is a subroutine whose result is a part of its first argument: it makes no copy.
func (f *frame) part(s code.Sub, args []uint64) uint64 {
	p := f.bytes(args[0])
	from, to := len(p), len(p)
	switch s {
	case code.SubStrchr:
		from = bytes.IndexByte(p, byte(args[1]))
	case code.SubStrrchr:
		from = bytes.LastIndexByte(p, byte(args[1]))
	case code.SubStrstr:
		from = bytes.Index(p, f.bytes(args[1]))
	case code.SubSubstr:
		from, to = substr(int64(len(p)), int64(args[1]), int64(optional(args, 2, math.MaxInt64)))
	}
	if from < 0 {
		from = len(p)
	}
	return uint64(code.MakeRef(code.Ref(args[0]).Off()+uint32(from), uint32(to-from)))
}

// substr is the part [from, to) of a string of size bytes that substr(s, at, n) means.
func substr(size, at, n int64) (from, to int) {
	if at < 0 {
		at += size
	}
	if at < 0 {
		n, at = n+at, 0 // what lies before the start is not there
		if n <= 0 {
			return 0, 0
		}
	}
	at = min(at, size)
	end := size + n
	if n >= 0 {
		end = at + min(n, size-at)
	}
	return int(at), int(max(at, end))
}

// index finds the second string in the first, from a position on or, for rindex, back.
func (f *frame) index(s code.Sub, args []uint64) int64 {
	p, t := f.bytes(args[0]), f.bytes(args[1])
	if s == code.SubRindex {
		from := int64(optional(args, 2, uint64(len(p))))
		if from < 0 {
			return int64(truth(len(t) == 0)) - 1 // "" is at 0 even so
		}
		end := min(from, int64(len(p))) + int64(len(t))
		return int64(bytes.LastIndex(p[:min(end, int64(len(p)))], t))
	}
	from := min(max(int64(optional(args, 2, 0)), 0), int64(len(p)))
	i := int64(bytes.Index(p[from:], t))
	if i >= 0 {
		i += from
	}
	return i
}

func (f *frame) strjoin(s, t []byte) (ref uint64, ok bool) {
	n := min(len(s)+len(t), f.m.cfg.StrSize-1)
	p, ok := f.alloc(n)
	if ok {
		copy(p[copy(p, s):], t)
	}
	return f.last(len(p)), ok
}

// mapBytes turns the letters from first to last into those of the other case.
func (f *frame) mapBytes(s []byte, first, last byte) (ref uint64, ok bool) {
	ref, ok = f.keepCut(s)
	if !ok {
		return 0, false
	}
	for i, c := range f.bytes(ref) {
		if c >= first && c <= last {
			f.bytes(ref)[i] = c ^ 0x20
		}
	}
	return ref, true
}

func (f *frame) lltostr(x, base uint64) (ref uint64, ok bool) {
	if base < 2 || base > 36 {
		return 0, f.fail(IllegalOp, 0)
	}
	var tmp [66]byte
	s := tmp[:0]
	switch {
	case base == 10:
		s = strconv.AppendInt(s, int64(x), 10)
	case base == 16:
		s = strconv.AppendUint(append(s, "0x"...), x, 16)
	case base == 8 && x != 0:
		s = strconv.AppendUint(append(s, '0'), x, 8)
	default:
		s = strconv.AppendUint(s, x, int(base))
	}
	return f.keepCut(s)
}

// basename is the last part of a path, as basename(1) gives it.
func basename(s []byte) []byte {
	if len(s) == 0 {
		return []byte(".")
	}
	s = bytes.TrimRight(s, "/")
	if len(s) == 0 {
		return []byte("/")
	}
	return s[bytes.LastIndexByte(s, '/')+1:]
}

// dirname is what precedes the last part of a path, as dirname(1) gives it.
func dirname(s []byte) []byte {
	trimmed := bytes.TrimRight(s, "/")
	i := bytes.LastIndexByte(trimmed, '/')
	if i < 0 {
		if len(trimmed) == 0 && len(s) > 0 {
			return []byte("/")
		}
		return []byte(".")
	}
	if dir := bytes.TrimRight(trimmed[:i], "/"); len(dir) > 0 {
		return dir
	}
	return []byte("/")
}
