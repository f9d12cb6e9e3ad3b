package consume

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
)

// formatted prints values through a format, without a trace around it.
func formatted(t testing.TB, format string, values ...Value) string {
	t.Helper()
	f, err := code.ParseFormat(format)
	if err != nil {
		t.Fatalf("%q: %v", format, err)
	}
	p := printer{Text: newStage(t).text(), values: values}
	p.format(f)
	return string(p.buf)
}

func i32(v int64) Value     { return Value{Size: 4, Signed: true, Int: uint64(v)} }
func i64(v int64) Value     { return Value{Size: 8, Signed: true, Int: uint64(v)} }
func u32(v uint64) Value    { return Value{Size: 4, Int: v} }
func u64(v uint64) Value    { return Value{Size: 8, Int: v} }
func i8(v int64) Value      { return Value{Size: 1, Signed: true, Int: uint64(v)} }
func str(s string) Value    { return Value{Kind: buffer.String, Bytes: []byte(s)} }
func raw(s string) Value    { return Value{Kind: buffer.Bytes, Bytes: []byte(s)} }
func pcs(p ...uint64) Value { return Value{Kind: buffer.Stack, Stack: p} }

func TestPrintf(t *testing.T) {
	tests := []struct {
		format string
		values []Value
		want   string
	}{
		{"plain 100%%\n", nil, "plain 100%\n"},
		{"%d %i", []Value{i32(-5), i64(5)}, "-5 5"},
		{"%d", []Value{u32(0xfffffffb)}, "4294967291"}, // the type decides
		{"%d", []Value{u64(1<<64 - 1)}, "18446744073709551615"},
		{"%u %u %u", []Value{i8(-1), i32(-1), i64(-1)}, "255 4294967295 18446744073709551615"},
		{"%x %X %o", []Value{i32(-1), i8(-86), i8(-1)}, "ffffffff AA 377"},
		{"%hx %lld %ld", []Value{i32(70000), i32(-1), i64(3)}, "11170 -1 3"},
		{"%p", []Value{u64(0xffffffff81000000)}, "ffffffff81000000"},
		{"%#p", []Value{u64(0xffffffff81000000)}, "0xffffffff81000000"},
		{"%.0d|%5.0x|%-5.0o|", []Value{i32(0), i32(0), i32(0)}, "0|    0|0    |"},
		{"%-05d|%0-5d|%-05s|%05s|", []Value{i32(3), i32(3), str("b"), str("s")}, "00003|3    |0000b|0000s|"},
		{"%5d|%-5d|%05d|%+d|% d", []Value{i32(42), i32(42), i32(-42), i32(42), i32(42)}, "   42|42   |-0042|+42| 42"},
		{"%.3d|%8.3d|%-8.3d|%08.3d", []Value{i32(7), i32(-7), i32(7), i32(7)}, "007|    -007|007     |     007"},
		{"%#x %#X %#o %#x", []Value{i32(255), i32(255), i32(8), i32(0)}, "0xff 0XFF 010 0"},
		{"%#08x|%#8x|%-#8x|", []Value{i32(255), i32(255), i32(255)}, "0x0000ff|    0xff|0xff    |"},
		{"%*d|%-*d|%*d", []Value{i32(5), i32(1), i32(5), i32(2), i32(-5), i32(3)}, "    1|2    |3    "},
		{"%.*d|%.*s|%.*s", []Value{i32(3), i32(1), i32(2), str("hello"), i32(-1), str("hello")}, "001|he|hello"},
		{"%'d", []Value{i32(1234567)}, "1234567"}, // the C locale has no groups
		{"%s|%8s|%-8s|%.2s|%8.2s", []Value{str("abc"), str("abc"), str("abc"), str("abc"), str("abc")}, "abc|     abc|abc     |ab|      ab"},
		{"%s", []Value{raw("comm\x00rest")}, "comm"},
		{"%S", []Value{str("a\tb\n\"\\\x01\xff")}, `a\tb\n\"\\\001\377`},
		{"%c%c|%3c|%-3c|", []Value{i32('h'), i32('i'), i32('x'), i32('y')}, "hi|  x|y  |"},
		{"%C%C%C", []Value{i32('\n'), i32('a'), i32(0)}, `\na\0`},
		{"%wc", []Value{i32('w')}, "w"},
		{"%a %a %a", []Value{u64(0x1017), u64(0x2001), u64(5)}, "vmlinux`vfs_read+0x17 ext4`0x2001 0x5"},
		{"%20a|", []Value{u64(0x1000)}, "    vmlinux`vfs_read|"},
		{"%A", []Value{u64(0x1017)}, "vmlinux`vfs_read+0x17"},
		{"%k", []Value{pcs(0x1000, 7)}, "\n              vmlinux`vfs_read\n              0x7\n"},
		{"%Y|%25Y", []Value{i64(1735689600e9), i64(1735689600e9)}, "2025 Jan  1 00:00:00|     2025 Jan  1 00:00:00"},
		{"%Y", []Value{i64(123456789e9)}, "1973 Nov 29 21:33:09"},
		{"%T", []Value{i64(1735689600e9)}, "Wed, 01 Jan 2025 00:00:00 UTC"},
		{"%e %f %g", []Value{i32(-12), i32(12), i32(12)}, "-1.200000e+01 12.000000 12"},
		{"%.1e %.0f %+.2f %08.1f", []Value{i64(1234567), i32(3), i32(3), i32(-3)}, "1.2e+06 3 +3.00 -00003.0"},
		{"%g %G %.3g", []Value{i64(1234567), i64(10000000000), i64(1000)}, "1.23457e+06 1E+10 1e+03"},
		{"%d and %s.", []Value{i32(1)}, "1 and ."},        // a value short
		{"%d %s", []Value{str("text"), i32(5)}, "text 5"}, // of the wrong kind
		{"%@d.", nil, "."}, // no aggregation here
	}
	for _, test := range tests {
		if got := formatted(t, test.format, test.values...); got != test.want {
			t.Errorf("%q: got %q, want %q", test.format, got, test.want)
		}
	}
}

// Everything that printf(1) knows as well is printed as it prints it.
func TestPrintfAgainstCoreutils(t *testing.T) {
	printf, err := exec.LookPath("printf")
	if err != nil {
		t.Fatal(err)
	}
	var formats, args, ours []string
	each := func(c, arg string, v Value) {
		formats = append(formats, c)
		args = append(args, arg)
		ours = append(ours, formatted(t, c, v))
	}
	for _, flags := range flagSets() {
		if strings.Contains(flags, "-") && strings.Contains(flags, "0") {
			continue // the last of them counts in DTrace, and the - in C
		}
		for _, field := range []string{"", "1", "9", ".0", ".1", ".4", "9.4", "3.9"} {
			for _, n := range []int64{0, 1, -1, 10, -4321, 1 << 62} {
				for _, verb := range "diuoxXeEfgG" {
					if strings.Contains(flags, "#") && strings.ContainsRune("diueEfgG", verb) {
						continue // no meaning, or none for whole numbers
					}
					if field == ".0" && n == 0 && strings.ContainsRune("diuoxX", verb) {
						continue // DTrace's .0 leaves out no 0
					}
					each("%"+flags+field+string(verb), fmt.Sprint(n), i64(n))
				}
			}
			if !strings.ContainsAny(flags, "#0+ ") && field != ".0" { // DTrace's .0 cuts no string
				each("%"+flags+field+"s", "text", str("text"))
				each("%"+flags+field+"s", "", str(""))
			}
		}
	}
	theirs := strings.Split(run(t, printf, formats, args), "\n")
	for i := range ours {
		if ours[i] != theirs[i] {
			t.Errorf("%s of %q: got %q, printf(1) %q", formats[i], args[i], ours[i], theirs[i])
		}
	}
}

func flagSets() (sets []string) {
	for n := range 1 << 5 {
		set := ""
		for i, f := range "-+ 0#" {
			if n>>i&1 == 1 {
				set += string(f)
			}
		}
		sets = append(sets, set)
	}
	return sets
}

// run gives printf(1) as many conversions at once as fit a command line.
func run(t *testing.T, printf string, formats, args []string) string {
	var out bytes.Buffer
	for len(formats) > 0 {
		n := min(len(formats), 4000)
		cmd := exec.Command(printf, append([]string{strings.Join(formats[:n], "\n") + "\n"}, args[:n]...)...)
		cmd.Env = []string{"LC_ALL=C"}
		cmd.Stdout = &out
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		formats, args = formats[n:], args[n:]
	}
	return out.String()
}

// No format and no values make the printer panic or print without end.
func FuzzPrintf(f *testing.F) {
	f.Add("%d %s %x", int64(1), "text", uint8(8))
	f.Add("%*.*d%-08.3S%@d%g", int64(-70000), "\x00\xff", uint8(1))
	f.Add("%Y %T %k %a %C", int64(-1), "", uint8(4))
	text := newStage(f).text()
	f.Fuzz(func(t *testing.T, format string, n int64, s string, size uint8) {
		parsed, err := code.ParseFormat(format)
		if err != nil {
			return
		}
		text.buf = text.buf[:0]
		v := Value{Size: []int{1, 2, 4, 8}[size%4], Signed: size&4 != 0, Int: uint64(n)}
		all := []Value{v, str(s), pcs(uint64(n)), raw(s), v, v, str(s), v}
		p := printer{Text: text, values: all[size%8:]}
		p.format(parsed)
		if most := len(format) + (len(s)*4+3*maxWidth+400)*len(all); len(text.buf) > most {
			t.Errorf("%q: %d bytes", format, len(text.buf))
		}
	})
}
