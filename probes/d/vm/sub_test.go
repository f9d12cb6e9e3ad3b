package vm

import (
	"strings"
	"testing"

	"trapline/probes/d/code"
)

func TestSubs(t *testing.T) {
	long := strings.Repeat("ab", 200)
	tests := []struct {
		sub  code.Sub
		args []any // string or int
		want string
	}{
		{code.SubBasename, []any{"/usr/bin/ls"}, "ls"},
		{code.SubBasename, []any{"/usr/bin//"}, "bin"},
		{code.SubBasename, []any{"ls"}, "ls"},
		{code.SubBasename, []any{"//"}, "/"},
		{code.SubBasename, []any{""}, "."},
		{code.SubDirname, []any{"/usr/bin/ls"}, "/usr/bin"},
		{code.SubDirname, []any{"/usr//bin//"}, "/usr"},
		{code.SubDirname, []any{"/usr"}, "/"},
		{code.SubDirname, []any{"ls"}, "."},
		{code.SubDirname, []any{"//"}, "/"},
		{code.SubDirname, []any{""}, "."},
		{code.SubCopyinstr, []any{0x1000}, "guest string"},
		{code.SubCopyinstr, []any{0x1000, 5}, "guest"},
		{code.SubCopyinstr, []any{0x1000, -1}, "guest string"},
		{code.SubAlloca, []any{16}, "60652145174642688"},
		{code.SubBcopy, nil, ""}, // TestMemory
		{code.SubCopyin, nil, ""},
		{code.SubCopyinto, nil, ""},
		{code.SubCopyout, nil, ""},
		{code.SubCopyoutstr, nil, ""},
		{code.SubMemstr, []any{0x1000, ' ', 6}, "guest"},
		{code.SubMemstr, []any{0x1000, ' ', 0}, ""},
		{code.SubMemstr, []any{0x2000 - 1, '-', 6}, "-\x7f--\x01"},
		{code.SubInetNtoa, []any{0x2000}, "127.0.0.1"},
		{code.SubInetNtoa6, []any{0x2000}, "7f00:1::ff:0:7f"},
		{code.SubInetNtop, []any{2, 0x2000}, "127.0.0.1"},
		{code.SubInetNtop, []any{10, 0x2010}, "::1"},
		{code.SubInetNtop, []any{26, 0x2020}, "::"},
		{code.SubInetNtop, []any{28, 0x2030}, "::ffff:1.2.3.4"},
		{code.SubHtons, []any{0x11223344}, "17459"},
		{code.SubNtohs, []any{0x3344}, "17459"},
		{code.SubHtonl, []any{0x01000000}, "1"},
		{code.SubNtohl, []any{1}, "16777216"},
		{code.SubHtonll, []any{1}, "72057594037927936"},
		{code.SubNtohll, []any{1}, "72057594037927936"},
		{code.SubGetmajor, []any{8<<20 | 17}, "8"},
		{code.SubGetminor, []any{8<<20 | 17}, "17"},
		{code.SubCleanpath, []any{"/a//b/./c/../d"}, "/a/b/d"},
		{code.SubCleanpath, []any{"/../.."}, "/"},
		{code.SubCleanpath, []any{"/a/.."}, "/"},
		{code.SubCleanpath, []any{"/a/."}, "/a/."},
		{code.SubCleanpath, []any{"a/../../b"}, "/b"},
		{code.SubCleanpath, []any{"/."}, "/."},
		{code.SubCleanpath, []any{"..x/.y"}, "..x/.y"},
		{code.SubCleanpath, []any{""}, ""},
		{code.SubJSON, []any{`{"a": {"b": [1, "two\n", {"c": null}]}}`, "a.b[1]"}, `two\n`},
		{code.SubJSON, []any{`[1, -2.5e3 ]`, "1"}, "-2.5e3"},
		{code.SubJSON, []any{`{"a": 0x10}`, "a"}, ""},
		{code.SubJSON, []any{`{"a": 12`, "a"}, ""},
		{code.SubJSON, []any{`{"a": "\u00e9", "b": "\u00eg", "c": 1}`, "a"}, `\u00e9`},
		{code.SubJSON, []any{`{"a": "\u00e9", "b": "\u00eg", "c": 1}`, "c"}, ""},
		{code.SubJSON, []any{`{"a": {"b": [1, "two", {"c": null}]}}`, "a.b[2].c"}, "null"},
		{code.SubJSON, []any{`{"a": {"b": [1, 2]}, "d":-1.5}`, "a"}, `{"b": [1, 2]}`},
		{code.SubJSON, []any{`{"a": {"b": [1, 2]}, "d":-1.5}`, "d"}, "-1.5"},
		{code.SubJSON, []any{`{"a": 1}`, "b"}, ""},
		{code.SubJSON, []any{`[[1,2],[3]]`, "[1][0]"}, "3"},
		{code.SubJSON, []any{`[1,2]`, "[2]"}, ""},
		{code.SubJSON, []any{`{"a"`, "a"}, ""},
		{code.SubJSON, []any{`{"a":`, "a"}, ""},
		{code.SubJSON, []any{`}`, "[0]"}, ""},
		{code.SubJSON, []any{`{"a":"\\`, "a"}, ""},
		{code.SubStrtok, []any{" ,", "  one, two"}, "one"},
		{code.SubStrtok, []any{" ,", " ,"}, ""},
		{code.SubStrtoll, []any{" -12x"}, "-12"},
		{code.SubStrtoll, []any{"0x1F", 16}, "31"},
		{code.SubStrtoll, []any{"z", 36}, "35"},
		{code.SubStrtoll, []any{""}, "0"},
		{code.SubProgenyof, []any{1}, "1"},
		{code.SubProgenyof, []any{7}, "0"},
		{code.SubRand, []any{}, "2065550767"},
		{code.SubSpeculation, []any{}, "1"},
		{code.SubIndex, []any{"abcabc", "bc"}, "1"},
		{code.SubIndex, []any{"abcabc", "bc", 2}, "4"},
		{code.SubIndex, []any{"abcabc", "bc", -9}, "1"},
		{code.SubIndex, []any{"abcabc", "x"}, "-1"},
		{code.SubIndex, []any{"abc", "", 9}, "3"},
		{code.SubRindex, []any{"abcabc", "bc"}, "4"},
		{code.SubRindex, []any{"abcabc", "bc", 3}, "1"},
		{code.SubRindex, []any{"abcabc", "bc", -1}, "-1"},
		{code.SubRindex, []any{"abcabc", "", -1}, "0"},
		{code.SubRindex, []any{"abc", ""}, "3"},
		{code.SubLltostr, []any{-12}, "-12"},
		{code.SubLltostr, []any{255, 16}, "0xff"},
		{code.SubLltostr, []any{0, 16}, "0x0"},
		{code.SubLltostr, []any{8, 8}, "010"},
		{code.SubLltostr, []any{0, 8}, "0"},
		{code.SubLltostr, []any{5, 2}, "101"},
		{code.SubLltostr, []any{-1, 36}, "3w5e11264sgsf"},
		{code.SubStrchr, []any{"abcabc", 'b'}, "bcabc"},
		{code.SubStrchr, []any{"abc", 'x'}, ""},
		{code.SubStrrchr, []any{"abcabc", 'b'}, "bc"},
		{code.SubStrstr, []any{"abcabc", "ca"}, "cabc"},
		{code.SubStrstr, []any{"abc", "x"}, ""},
		{code.SubStrjoin, []any{"foo", "bar"}, "foobar"},
		{code.SubStrjoin, []any{long[:254], "bar"}, long[:254] + "b"},
		{code.SubStrlen, []any{"four"}, "4"},
		{code.SubSubstr, []any{"abcdef", 2}, "cdef"},
		{code.SubSubstr, []any{"abcdef", 2, 2}, "cd"},
		{code.SubSubstr, []any{"abcdef", -2}, "ef"},
		{code.SubSubstr, []any{"abcdef", -9}, "abcdef"},
		{code.SubSubstr, []any{"abcdef", -9, 5}, "ab"},
		{code.SubSubstr, []any{"abcdef", -9, 2}, ""},
		{code.SubSubstr, []any{"abcdef", -9, -1}, ""},
		{code.SubSubstr, []any{"abcdef", 1, -2}, "bcd"},
		{code.SubSubstr, []any{"abcdef", 3, -9}, ""},
		{code.SubSubstr, []any{"abcdef", 9}, ""},
		{code.SubTolower, []any{"MiXed @[`{ 1"}, "mixed @[`{ 1"},
		{code.SubToupper, []any{"MiXed @[`{ 1"}, "MIXED @[`{ 1"},
		{code.SubToupper, []any{long}, strings.ToUpper(long[:255])},
	}
	seen := map[code.Sub]bool{}
	for _, test := range tests {
		if seen[test.sub] = true; !test.sub.Leaves() || test.args == nil {
			continue
		}
		g := newGuest()
		g.write(0x1000, "guest string\x00")
		g.write(0x2000, "\x7f\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\xff\x00\x00\x00\x7f")
		g.write(0x201f, "\x01")
		g.write(0x203a, "\xff\xff\x01\x02\x03\x04")
		p := &code.Program{}
		var ins []code.Instr
		for _, a := range test.args {
			switch a := a.(type) {
			case string:
				ins = append(ins, imm(code.OpStr, uint64(len(p.Strings))))
				p.Strings = append(p.Strings, a)
			case int:
				ins = append(ins, push(int64(a)))
			case rune:
				ins = append(ins, push(int64(a)))
			}
		}
		typ := tStr
		if _, kind := test.sub.Signature(); kind == code.Int {
			typ = tI64
		}
		got, fault := value(t, g, p, fn(typ, append(ins, call(test.sub, len(test.args)))...))
		if got != test.want || fault.Kind != 0 {
			t.Errorf("%s(%q): got %q, want %q, fault %v", test.sub, test.args, got, test.want, fault)
		}
	}
	for _, s := range code.Subs() {
		if !seen[s] {
			t.Errorf("%s is not tested", s)
		}
	}
}
