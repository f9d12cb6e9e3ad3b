package debuginfo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"trapline/kernel"
	"trapline/kernel/ctypes"
	"trapline/kernel/source"
)

// Of the files that the tests make: where the text is, and in .debug_info where the first entry is
// behind that of the unit.
const textAt, firstEntry = 0x1000000, 28

// elfWith is a kernel for amd64 with a page of text and some sections.
func elfWith(sections map[string][]byte) []byte {
	sections[".text"] = make([]byte, 4096)
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range sections {
			if !yield(name) {
				return
			}
		}
	})
	names = append(names, ".shstrtab")
	strs := []byte{0}
	file, headers := make([]byte, 64), make([]byte, 64)
	for _, name := range names {
		data, at, flags, kind := sections[name], uint64(0), uint64(0), uint32(1)
		where := uint32(len(strs))
		strs = append(append(strs, name...), 0)
		switch name {
		case ".text":
			at, flags = textAt, 6
		case ".shstrtab":
			data, kind = strs, 3
		}
		h := le.AppendUint32(le.AppendUint32(nil, where), kind)
		for _, v := range []uint64{flags, at, uint64(len(file)), uint64(len(data)), 0, 1, 0} {
			h = le.AppendUint64(h, v)
		}
		headers, file = append(headers, h...), append(file, data...)
	}
	copy(file, "\x7fELF\x02\x01\x01")
	le.PutUint16(file[16:], 2)
	le.PutUint16(file[18:], 62)
	le.PutUint32(file[20:], 1)
	le.PutUint64(file[40:], uint64(len(file)))
	le.PutUint16(file[52:], 64)
	le.PutUint16(file[58:], 64)
	le.PutUint16(file[60:], uint16(len(names)+1))
	le.PutUint16(file[62:], uint16(len(names)))
	return append(file, headers...)
}

// abbreviation is one of codes below 128, without its end.
func abbreviation(code, tag byte, children bool, attrs ...byte) []byte {
	has := byte(0)
	if children {
		has = 1
	}
	return append(append([]byte{code, tag, has}, attrs...), 0, 0)
}

// unit4 is a unit of DWARF 4 with the abbreviations at 0.
func unit4(entries ...[]byte) []byte {
	all := slices.Concat(entries...)
	return append(append(le.AppendUint32(nil, uint32(len(all)+7)), 4, 0, 0, 0, 0, 0, 8), all...)
}

func uleb(v uint64) []byte { return binary.AppendUvarint(nil, v) }

func u64(v uint64) []byte { return le.AppendUint64(nil, v) }

// Codes of the entries that the tests make.
const (
	aUnit = iota + 1
	aFunction
	aBlock
	aLeaf
	aInlined
	aEnum
	aEnumerator
	aStruct
	aMember
	aArray
	aRange
	aPointer
	aSubroutine
	aParam
	aVariable
	aRanged
	aStruct2
	aTypedef
	aBase
)

var hostileAbbrev = slices.Concat(
	abbreviation(aUnit, tagCompileUnit, true, atStmtList, formSecOff, atLowPC, formAddr, atHighPC, formData4),
	abbreviation(aFunction, tagSubprogram, true, atName, formString, atLowPC, formAddr, atHighPC, formData4, atFrameBase, formExprloc),
	abbreviation(aBlock, tagLexicalBlock, true),
	abbreviation(aLeaf, tagSubprogram, false, atName, formString),
	abbreviation(aInlined, tagInlined, true, atOrigin, formRef4),
	abbreviation(aEnum, tagEnum, true, atName, formString, atByteSize, formData1),
	abbreviation(aEnumerator, tagEnumerator, false, atName, formStrp, atConst, formData4),
	abbreviation(aStruct, tagStruct, true, atName, formString, atByteSize, formUdata),
	abbreviation(aMember, tagMember, false, atName, formStrp, atType, formRef4, atMemberLoc, formUdata, atBitSize, formUdata),
	abbreviation(aArray, tagArray, true, atType, formRef4),
	abbreviation(aRange, tagSubrange, false, atCount, formUdata),
	abbreviation(aPointer, tagPointer, false, atType, formRef4),
	abbreviation(aSubroutine, tagSubroutine, true, atType, formRef4),
	abbreviation(aParam, tagParam, false, atName, formStrp, atType, formRef4),
	abbreviation(aVariable, tagVariable, false, atName, formString, atType, formRef4, atLocation, formExprloc),
	abbreviation(aRanged, tagSubprogram, false, atName, formString, atRanges, formSecOff),
	abbreviation(aStruct2, tagStruct, true),
	abbreviation(aTypedef, tagTypedef, false, atName, formString, atType, formRef4),
	abbreviation(aBase, tagBase, false, atName, formString, atByteSize, formData1, atEncoding, formData1),
	[]byte{0},
)

// root begins a unit, aCode a function f with code at textAt.
var (
	unitEntry = slices.Concat([]byte{aUnit, 0, 0, 0, 0}, u64(textAt), []byte{0, 1, 0, 0})
	aCode     = slices.Concat([]byte{aFunction, 'f', 0}, u64(textAt), []byte{0, 1, 0, 0, 1, 0x9c})
)

func times(n int, p ...byte) []byte { return bytes.Repeat(p, n) }

// hostile are sections that claim much, by what they do. The debug information of each is of some
// megabytes at most.
var hostile = map[string]func() map[string][]byte{
	"blocks in blocks": func() map[string][]byte {
		return map[string][]byte{".debug_info": unit4(unitEntry, aCode, times(6<<20, aBlock))}
	},
	"blocks in blocks, closed": func() map[string][]byte {
		return map[string][]byte{".debug_info": unit4(unitEntry, aCode, times(3000, aBlock), times(1<<20, aLeaf, 0), times(3000, 0))}
	},
	"copies in copies": func() map[string][]byte {
		return map[string][]byte{".debug_info": unit4(unitEntry, aCode, times(1<<20, aInlined, firstEntry, 0, 0, 0))}
	},
	"functions": func() map[string][]byte {
		return map[string][]byte{".debug_info": unit4(unitEntry, times(1<<20, aLeaf, 0x67, 0))}
	},
	"units": func() map[string][]byte {
		return map[string][]byte{".debug_info": times(1<<20, unit4()...)}
	},
	"units of one large table": func() map[string][]byte {
		table := append(slices.Clone(hostileAbbrev[:len(hostileAbbrev)-1]), times(1<<18, 127, tagVariable, 0, 0, 0)...)
		return map[string][]byte{".debug_info": times(1<<16, unit4(unitEntry, []byte{0})...), ".debug_abbrev": table}
	},
	"many functions of one long list of ranges": func() map[string][]byte {
		list := append(times(1<<16, 0, 0, 0, 1, 0, 0, 0, 0, 9, 0, 0, 1, 0, 0, 0, 0), make([]byte, 16)...)
		return map[string][]byte{".debug_info": unit4(unitEntry, times(1<<16, aRanged, 'r', 0, 0, 0, 0, 0)), ".debug_ranges": list}
	},
	"files without end": func() map[string][]byte {
		header := slices.Concat([]byte{5, 0, 8, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 1}, []byte{0}, uleb(math.MaxUint64))
		return map[string][]byte{
			".debug_info": unit4(unitEntry, aCode, []byte{0, 0}),
			".debug_line": append(le.AppendUint32(nil, uint32(len(header))), header...),
		}
	},
	"files without bytes": func() map[string][]byte {
		header := slices.Concat([]byte{5, 0, 8, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 1}, []byte{1, 1, formPresent}, uleb(math.MaxUint64))
		return map[string][]byte{
			".debug_info": unit4(unitEntry, aCode, []byte{0, 0}),
			".debug_line": append(le.AppendUint32(nil, uint32(len(header))), header...),
		}
	},
	"an enumerator of many values": func() map[string][]byte {
		info := slices.Concat(unitEntry, []byte{aEnum, 'e', 0, 4})
		for i := range 1 << 19 {
			if i%60000 == 59999 {
				info = append(info, 0, aEnum, 'e', 0, 4)
			}
			info = le.AppendUint32(append(info, aEnumerator, 0, 0, 0, 0), uint32(i))
		}
		return map[string][]byte{".debug_info": unit4(info, []byte{0, 0})}
	},
	"members of one long name": func() map[string][]byte {
		member := slices.Concat([]byte{aMember, 0, 0, 0, 0, 0, 0, 0, 0}, uleb(1<<62), []byte{0})
		return map[string][]byte{
			".debug_info": unit4(unitEntry, []byte{aStruct, 's', 0, 1}, bytes.Repeat(member, 1<<18)),
			".debug_str":  append(times(1<<20, 'x'), 0),
		}
	},
	"a very large structure": func() map[string][]byte {
		return map[string][]byte{".debug_info": unit4(unitEntry, []byte{aStruct, 's', 0}, uleb(math.MaxInt64), []byte{0, 0})}
	},
	"arrays of arrays": func() map[string][]byte {
		info := unit4(unitEntry)
		for range 50 {
			at := uint32(len(info))
			info = append(le.AppendUint32(append(info, aArray), at-min(at-firstEntry, 16)), aRange)
			info = append(append(info, uleb(math.MaxInt64)...), 0)
		}
		at := uint32(len(info))
		info = le.AppendUint32(append(info, aTypedef, 't', 0), at-16)
		le.PutUint32(info, uint32(len(info)-4))
		return map[string][]byte{".debug_info": info}
	},
	"functions of functions": func() map[string][]byte {
		info := unit4(unitEntry, []byte{aBase, 'i', 0, 4, 5})
		last := uint32(firstEntry)
		for range 60 {
			at := uint32(len(info))
			info = le.AppendUint32(append(info, aSubroutine), last)
			for range 8 {
				info = le.AppendUint32(append(info, aParam, 0, 0, 0, 0), last)
			}
			info, last = append(info, 0), at
		}
		info = le.AppendUint32(append(info, aTypedef, 't', 0), last)
		le.PutUint32(info, uint32(len(info)-4))
		return map[string][]byte{".debug_info": info}
	},
	"types of themselves": func() map[string][]byte {
		info := unit4(unitEntry)
		for _, code := range []byte{aPointer, aArray, aSubroutine} {
			at := uint32(len(info))
			info = le.AppendUint32(append(info, code), at)
			if code != aPointer {
				info = append(info, 0)
			}
			info = le.AppendUint32(append(info, aTypedef, 't', 0), uint32(len(info)))
			info = le.AppendUint32(append(info, aVariable, 'v', 0), at)
			info = append(info, 1, 0x50)
		}
		le.PutUint32(info, uint32(len(info)-4))
		return map[string][]byte{".debug_info": info}
	},
	"rows of lines": func() map[string][]byte {
		start := append([]byte{0, 9, 2}, u64(textAt)...)
		header := slices.Concat([]byte{4, 0, 29, 0, 0, 0, 1, 1, 1, 0, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0}, []byte{'f', 0, 0, 0, 0, 0})
		header[2] = byte(len(header) - 6)
		program := slices.Concat(start, times(4<<20, 1), []byte{0, 1, 1})
		return map[string][]byte{
			".debug_info": unit4(unitEntry, aCode, []byte{0, 0}),
			".debug_line": slices.Concat(le.AppendUint32(nil, uint32(len(header)+len(program))), header, program),
		}
	},
	"a frame base of itself": func() map[string][]byte {
		base := slices.Concat([]byte{aFunction, 'f', 0}, u64(textAt), []byte{0, 1, 0, 0}, uleb(3*2000), bytes.Repeat([]byte{0x91, 0, 0x13}, 2000))
		return map[string][]byte{".debug_info": unit4(unitEntry, base, []byte{aVariable, 'v', 0, 0, 0, 0, 0, 2, 0x91, 0, 0, 0})}
	},
	"call frames without end": func() map[string][]byte {
		cie := append(le.AppendUint32(le.AppendUint32(nil, 13), math.MaxUint32), 4, 0, 8, 0, 1, 1, 16, 0, 0)
		program := times(1<<20, cfaRemember, cfaUndefined, 7)
		fde := slices.Concat(le.AppendUint32(le.AppendUint32(nil, uint32(20+len(program))), 0), u64(textAt), u64(256), program)
		return map[string][]byte{
			".debug_info":  unit4(unitEntry, aCode, []byte{aVariable, 'v', 0, 0, 0, 0, 0, 2, 0x91, 0, 0, 0}),
			".debug_frame": append(cie, fde...),
		}
	},
}

// TestHostile: whatever debug information claims, reading it ends soon, and takes no more memory than
// its size and spare, of which the collector may not be done with the last.
func TestHostile(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	for name, sections := range hostile {
		t.Run(name, func(t *testing.T) {
			s := sections()
			if s[".debug_abbrev"] == nil {
				s[".debug_abbrev"] = hostileAbbrev
			}
			data := elfWith(s)
			img, err := kernel.New(bytes.NewReader(data), int64(len(data)), "hostile")
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			before := heap()
			peak := peakOf(func() { readAll(t, img) })
			limit := before + uint64(len(data)) + spare
			if peak > limit+limit/5 {
				t.Errorf("%d MiB of memory for a file of %d MiB", (peak-before)>>20, len(data)>>20)
			}
		})
	}
}

// hang is how long reading may take before it counts as without end. The slowest input takes three
// seconds by itself, and many times that beside other work or with the race detector.
const hang = 3 * time.Minute

// peakOf is the most memory of the heap that f has. It ends the program if f takes too long.
func peakOf(f func()) (peak uint64) {
	done := make(chan bool)
	go func() { defer close(done); f() }()
	late := time.After(hang)
	for {
		select {
		case <-done:
			return peak
		case <-late:
			buf := make([]byte, 1<<16)
			panic(fmt.Sprintf("reading takes more than %v:\n%s", hang, buf[:runtime.Stack(buf, true)]))
		case <-time.After(2 * time.Millisecond):
			peak = max(peak, heap())
		}
	}
}

// heap is the memory of all objects, some perhaps not in use any more.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// readAll asks for all that there is to ask for.
func readAll(t *testing.T, img *kernel.Image) {
	clear := func(err error) {
		if err != nil && (strings.Contains(err.Error(), "runtime error") || strings.Contains(err.Error(), "\n")) {
			t.Error(err)
		}
	}
	types := New(img, "", "")
	for _, kind := range []ctypes.Kind{ctypes.Struct, ctypes.Union, ctypes.Enum} {
		for _, tag := range []string{"s", "e", "thread", "nowhere"} {
			if typ, ok := types.Tagged(kind, tag); ok {
				look(typ)
			}
		}
	}
	if typ, ok := types.Typedef("t"); ok {
		look(typ)
	}
	if typ, ok := types.Function("f"); ok {
		look(typ)
	}
	types.Variable("v")
	types.Enumerator("")
	clear(types.Err())
	newDWARF(img, types).index()
	newDWARF(img, types).definitions()
	if info, err := source.Open(img); err != nil {
		clear(err)
	} else if f, err := info.Function(textAt, 256); err != nil {
		clear(err)
	} else {
		f.Starts()
		f.At(textAt + 4)
	}
	x, err := OpenIndex(img, "", nil)
	clear(err)
	if err != nil {
		return
	}
	l := NewLocals(img, x, types, img)
	for i, name := range x.Glob("") {
		if f, _ := x.Function(name); i < 100 {
			for _, d := range f.Regular[:min(len(f.Regular), 100)] {
				readLocals(l, d.Entry, clear)
			}
		}
	}
}

func readLocals(l *Locals, at uint64, clear func(error)) {
	for _, name := range l.Names(at) {
		if v, ok := l.Find(at, name); ok {
			look(v.Type)
			_, _, err := l.Read(v, cpu{6: 0x10000, 7: 0x10800})
			clear(err)
		}
	}
}
