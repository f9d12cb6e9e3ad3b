package debuginfo

import (
	stddwarf "debug/dwarf"
	"debug/elf"
	"fmt"
	"strings"
	"testing"

	ebtf "github.com/cilium/ebpf/btf"

	"trapline/images/tiny"
	"trapline/kernel"
	"trapline/kernel/ctypes"
)

func tinyELF(t testing.TB) []byte {
	t.Helper()
	data, err := tiny.Kernel("amd64")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func tinyTypes(t testing.TB) *Types {
	t.Helper()
	data := tinyELF(t)
	img, err := kernel.New(strings.NewReader(string(data)), int64(len(data)), "tiny")
	if err != nil {
		t.Fatal(err)
	}
	return New(img, "", "thread")
}

// TestTinyAgainstStandard compares every structure and union of the teaching kernel with what the
// standard library reads of it.
func TestTinyAgainstStandard(t *testing.T) {
	if n := againstStandard(t, tinyTypes(t), tinyELF(t)); n < 10 {
		t.Errorf("only %d structures compared", n)
	}
}

// TestCompilersTypes: the same of programs by both compilers, in all versions of DWARF that they write.
func TestCompilersTypes(t *testing.T) {
	for _, cc := range []string{"gcc", "clang"} {
		for _, flag := range []string{"-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"} {
			t.Run(cc+flag, func(t *testing.T) {
				data := compile(t, cc, flag)
				img, err := kernel.New(strings.NewReader(string(data)), int64(len(data)), "program")
				if err != nil {
					t.Fatal(err)
				}
				if n := againstStandard(t, New(img, "", ""), data); n < 2 {
					t.Errorf("only %d structures compared", n)
				}
			})
		}
	}
}

// againstStandard compares the structures and unions of an ELF file, and returns their number.
func againstStandard(t *testing.T, types *Types, file []byte) (compared int) {
	t.Helper()
	f, err := elf.NewFile(strings.NewReader(string(file)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	r := data.Reader()
	for e, err := r.Next(); e != nil && err == nil; e, err = r.Next() {
		name, _ := e.Val(stddwarf.AttrName).(string)
		if e.Tag != stddwarf.TagStructType && e.Tag != stddwarf.TagUnionType || name == "" || e.Val(stddwarf.AttrDeclaration) != nil {
			continue
		}
		std, err := data.Type(e.Offset)
		if err != nil {
			t.Fatal(err)
		}
		kind := map[stddwarf.Tag]ctypes.Kind{stddwarf.TagStructType: ctypes.Struct, stddwarf.TagUnionType: ctypes.Union}[e.Tag]
		got, ok := types.Tagged(kind, name)
		if !ok {
			t.Errorf("%s is not found", name)
			continue
		}
		compare(t, std.(*stddwarf.StructType), got)
		compared++
	}
	return compared
}

func compare(t *testing.T, std *stddwarf.StructType, got *ctypes.Type) {
	t.Helper()
	if int(std.ByteSize) != got.Bytes() || len(std.Field) != len(got.Fields) {
		t.Errorf("%s: %d bytes, %d fields; want %d, %d", got, got.Bytes(), len(got.Fields), std.ByteSize, len(std.Field))
		return
	}
	for i, want := range std.Field {
		f := got.Fields[i]
		at := 8*f.Offset + f.BitOffset
		wantAt := 8*want.ByteOffset + want.DataBitOffset
		if f.Name != want.Name || at != int(wantAt) || f.Bits != int(want.BitSize) || f.Type.Bytes() != max(int(want.Type.Size()), 0) {
			t.Errorf("%s.%s: bit %d, %d bits of %s; want %s at %d, %d bits of %v", got, f.Name, at, f.Bits, f.Type,
				want.Name, wantAt, want.BitSize, want.Type)
		}
	}
}

func TestTinyNames(t *testing.T) {
	types := tinyTypes(t)
	for name, want := range map[string]string{"current": "struct thread *", "tiny_banner": "char []"} {
		if typ, ok := types.Variable(name); !ok || !strings.HasPrefix(typ.String(), strings.TrimSuffix(want, "]")) {
			t.Errorf("%s: %v, want %s", name, typ, want)
		}
	}
	if typ := types.Thread(); typ.String() != "struct thread" || typ.Bytes() == 0 {
		t.Errorf("thread: %v, %d bytes", typ, typ.Bytes())
	}
	if f, ok := types.Thread().Member("pid"); !ok || f.Offset != 8 {
		t.Errorf("thread.pid: %+v", f)
	}
	if typ, ok := types.Typedef("uint64_t"); ok && typ.Bytes() != 8 {
		t.Errorf("uint64_t: %v", typ)
	}
	for _, name := range []string{"nosuch", ""} {
		if typ, ok := types.Variable(name); ok {
			t.Errorf("variable %q: %v", name, typ)
		}
		if typ, ok := types.Tagged(ctypes.Struct, name); ok {
			t.Errorf("struct %q: %v", name, typ)
		}
	}
	if fn, ok := types.Function("thread_frame_kernel"); !ok || fn.String() != "void (struct thread *, void (*)(void))" {
		t.Errorf("thread_frame_kernel: %v", fn)
	}
}

// sampleBTF is made by another implementation.
func sampleBTF(t testing.TB) []byte {
	t.Helper()
	integer := &ebtf.Int{Name: "int", Size: 4, Encoding: ebtf.Signed}
	ulong := &ebtf.Int{Name: "long unsigned int", Size: 8}
	char := &ebtf.Int{Name: "char", Size: 1, Encoding: ebtf.Char | ebtf.Signed}
	file := &ebtf.Struct{Name: "file", Size: 40}
	file.Members = []ebtf.Member{
		{Name: "self", Type: &ebtf.Pointer{Target: file}},
		{Name: "lo", Type: integer, Offset: 64, BitfieldSize: 3},
		{Name: "hi", Type: integer, Offset: 67, BitfieldSize: 20},
		{Type: &ebtf.Union{Size: 8, Members: []ebtf.Member{{Name: "u", Type: ulong}, {Name: "c", Type: char}}}, Offset: 128},
		{Name: "name", Type: &ebtf.Array{Index: integer, Type: &ebtf.Const{Type: char}, Nelems: 16}, Offset: 192},
	}
	proto := &ebtf.FuncProto{Return: &ebtf.Void{}, Params: []ebtf.FuncParam{{Name: "f", Type: &ebtf.Pointer{Target: file}}, {Name: "n", Type: ulong}}}
	b, err := ebtf.NewBuilder([]ebtf.Type{
		file,
		&ebtf.Typedef{Name: "fn_t", Type: &ebtf.Pointer{Target: proto}},
		&ebtf.Func{Name: "vfs_read", Type: proto, Linkage: ebtf.GlobalFunc},
		&ebtf.Enum{Name: "color", Size: 4, Signed: true, Values: []ebtf.EnumValue{{Name: "RED", Value: 1}, {Name: "NONE", Value: ^uint64(0)}}},
		&ebtf.Fwd{Name: "later", Kind: ebtf.FwdStruct},
		&ebtf.Typedef{Name: "size_t", Type: &ebtf.Volatile{Type: ulong}},
		&ebtf.Float{Name: "double", Size: 8},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := b.Marshal(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestBTF(t *testing.T) {
	types := New(nil, "", "")
	b, err := newBTF(sampleBTF(t), types)
	if err != nil {
		t.Fatal(err)
	}
	types.compact, types.opened = b, true
	file, ok := types.Tagged(ctypes.Struct, "file")
	if !ok {
		t.Fatal("struct file is not found")
	}
	var got []string
	for _, name := range []string{"self", "lo", "hi", "u", "c", "name"} {
		f, ok := file.Member(name)
		got = append(got, fmt.Sprintf("%s %s %d.%d:%d %v", name, f.Type, f.Offset, f.BitOffset, f.Bits, ok))
	}
	const want = `self struct file * 0.0:0 true
lo int 8.0:3 true
hi int 8.3:20 true
u unsigned long 16.0:0 true
c char 16.0:0 true
name char [16] 24.0:0 true`
	if s := strings.Join(got, "\n"); s != want || file.Bytes() != 40 {
		t.Errorf("struct file, %d bytes:\n%s", file.Bytes(), s)
	}
	fn, _ := types.Typedef("fn_t")
	vfs, _ := types.Function("vfs_read")
	size, _ := types.Typedef("size_t")
	color, _ := types.Tagged(ctypes.Enum, "color")
	if fn.Base().String() != "void (*)(struct file *, unsigned long)" || vfs.String() != "void (struct file *, unsigned long)" ||
		size.Base() != ctypes.UlongType || fmt.Sprint(color.Base().Enums) != "[{RED 1} {NONE -1}]" {
		t.Errorf("%v, %v, %v, %v", fn.Base(), vfs, size.Base(), color.Enums)
	}
	if _, ok := types.Tagged(ctypes.Struct, "fil"); ok {
		t.Error("a name that is the beginning of another is found")
	}
}

// TestLetters: what the index of variables keeps of a type gives it back.
func TestLetters(t *testing.T) {
	types := tinyTypes(t)
	thread := types.Thread()
	for _, typ := range []*ctypes.Type{
		ctypes.UlongType, ctypes.PointerTo(thread), ctypes.ArrayOf(ctypes.ArrayOf(ctypes.PointerTo(ctypes.CharType), 3), -1),
		ctypes.PointerTo(ctypes.FuncOf(ctypes.VoidType, nil, false)), thread, ctypes.VoidPtr,
	} {
		code, ok := encode(typ, 0)
		back, ok2 := types.decode(code, 0)
		if !ok || !ok2 || !ctypes.Same(typ, back) || back.Bytes() != typ.Bytes() || back.String() != typ.String() {
			t.Errorf("%s: %q is %v", typ, code, back)
		}
	}
	for _, code := range []string{"", "p", "a", "a3", "ax:i:int", "z", "i:nosuch", "t:nosuch", strings.Repeat("p", 1000) + "v"} {
		if typ, ok := types.decode(code, 0); ok {
			t.Errorf("%.10q is %v", code, typ)
		}
	}
}

// TestIndex: the index of variables has the types that a search finds.
func TestIndex(t *testing.T) {
	types := tinyTypes(t)
	types.open()
	x := types.dwarf.index()
	n := 0
	for _, line := range strings.Split(strings.Trim(string(x.lines), "\n"), "\n") {
		name, code, _ := strings.Cut(line, " ")
		want, ok := types.dwarf.variable(name)
		got, ok2 := types.decode(code, 0)
		if !ok || !ok2 || !ctypes.Same(want, got) && want.Base().Kind != ctypes.Array {
			t.Errorf("%s: %v, a search finds %v", line, got, want)
		}
		if c, ok := x.find(name); !ok || c != code {
			t.Errorf("%s is not found in the index", name)
		}
		n++
	}
	if n < 10 {
		t.Errorf("only %d variables", n)
	}
}

func FuzzBTF(f *testing.F) {
	f.Add(sampleBTF(f))
	f.Fuzz(func(t *testing.T, raw []byte) {
		types := New(nil, "", "")
		b, err := newBTF(raw, types)
		if err != nil {
			return
		}
		types.compact, types.opened = b, true
		for id := range b.offs {
			look(b.typ(uint32(id)))
		}
	})
}

// look looks at everything of a type that the language may.
func look(t *ctypes.Type) {
	_ = t.String()
	if n := t.Bytes(); n < 0 || n > ctypes.MaxBytes {
		panic(fmt.Sprintf("%s has %d bytes", t, n))
	}
	t.Member("x")
	t.Align()
	for _, f := range t.Base().Fields {
		_ = f.Type.String()
		if unit := 8 * f.Type.Bytes(); f.Offset < 0 || f.Bits < 0 || f.BitOffset < 0 || f.Bits > 0 && (f.BitOffset+f.Bits > unit || unit > 64) {
			panic(fmt.Sprintf("member %+v of %s lies outside its type", f, t))
		}
	}
}

func FuzzDWARF(f *testing.F) {
	file, err := elf.NewFile(strings.NewReader(string(tinyELF(f))))
	if err != nil {
		f.Fatal(err)
	}
	section := func(name string) []byte {
		data, err := file.Section(name).Data()
		if err != nil {
			f.Fatal(err)
		}
		return data
	}
	str, line := section(".debug_str"), section(".debug_line_str")
	f.Add(section(".debug_info")[:4096], section(".debug_abbrev"))
	f.Fuzz(func(t *testing.T, info, abbrev []byte) {
		types := New(nil, "", "")
		types.opened = true
		types.dwarf = openDWARF(func(name string) []byte {
			return map[string][]byte{".debug_info": info, ".debug_abbrev": abbrev, ".debug_str": str, ".debug_line_str": line}[name]
		}, types)
		n := 0
		types.dwarf.top(func(_ *unit, e *die) bool {
			look(types.dwarf.types.typ(e.off))
			n++
			return n < 1000
		})
		types.dwarf.index()
	})
}
