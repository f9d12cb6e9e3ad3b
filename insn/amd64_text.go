package insn

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// amd64Text disassembles. x86asm does the work; what it does not know, or takes for an
// instruction of another length, has a name in the tables below, or is shown as .byte.
func amd64Text(code []byte, pc uint64, sym func(uint64) (string, uint64)) string {
	in, err := DecodeAMD64(code)
	if err != nil {
		return "(bad)"
	}
	code = code[:in.Len]
	if text, ok := x86asmText(code, pc, sym); ok {
		return text
	}
	if in.ModRM != 0 {
		if name, ok := amd64Fixed[amd64Name{in.space, in.Opcode, in.simd(), code[in.ModRM]}]; ok {
			return name
		}
		for _, row := range amd64Named {
			if row.matches(&in, code[in.ModRM]) {
				return row.text(&in, code)
			}
		}
	}
	var bytes []string
	for _, c := range code {
		bytes = append(bytes, fmt.Sprintf("0x%02x", c))
	}
	return ".byte " + strings.Join(bytes, ",")
}

// x86asmText disassembles if x86asm agrees with us on what the instruction is.
func x86asmText(code []byte, pc uint64, sym func(uint64) (string, uint64)) (string, bool) {
	x, err := x86asm.Decode(code, 64)
	if err != nil || x.Op == 0 || x.Len != len(code) {
		return "", false
	}
	text := strings.Join(strings.Fields(x86asm.GNUSyntax(x, pc, sym)), " ")
	if rel, ok := x.Args[0].(x86asm.Rel); ok { // x86asm names the beginnings of symbols only
		text = text[:strings.LastIndex(text, " ")+1] + targetText(pc+uint64(x.Len)+uint64(rel), sym)
	}
	return text, true
}

// An amd64Name names an instruction without operands.
type amd64Name struct {
	space  amd64Space
	opcode byte
	simd   byte // as AMD64Inst.simd
	modrm  byte
}

var amd64Fixed = map[amd64Name]string{
	{space0F, 0x01, 0, 0xc0}: "enclv",
	{space0F, 0x01, 0, 0xc1}: "vmcall",
	{space0F, 0x01, 0, 0xc2}: "vmlaunch",
	{space0F, 0x01, 0, 0xc3}: "vmresume",
	{space0F, 0x01, 0, 0xc4}: "vmxoff",
	{space0F, 0x01, 0, 0xc5}: "pconfig",
	{space0F, 0x01, 0, 0xca}: "clac",
	{space0F, 0x01, 0, 0xcb}: "stac",
	{space0F, 0x01, 0, 0xcf}: "encls",
	{space0F, 0x01, 0, 0xd4}: "vmfunc",
	{space0F, 0x01, 0, 0xd7}: "enclu",
	{space0F, 0x01, 0, 0xd8}: "vmrun",
	{space0F, 0x01, 0, 0xd9}: "vmmcall",
	{space0F, 0x01, 0, 0xda}: "vmload",
	{space0F, 0x01, 0, 0xdb}: "vmsave",
	{space0F, 0x01, 0, 0xdc}: "stgi",
	{space0F, 0x01, 0, 0xdd}: "clgi",
	{space0F, 0x01, 0, 0xde}: "skinit",
	{space0F, 0x01, 0, 0xdf}: "invlpga",
	{space0F, 0x01, 0, 0xe8}: "serialize",
	{space0F, 0x01, 0, 0xee}: "rdpkru",
	{space0F, 0x01, 0, 0xef}: "wrpkru",
	{space0F, 0x01, 0, 0xfa}: "monitorx",
	{space0F, 0x01, 0, 0xfb}: "mwaitx",
	{space0F, 0x01, 0, 0xfc}: "clzero",
	{space0F, 0x01, 0, 0xfd}: "rdpru",
	{space0F, 0x01, 0, 0xfe}: "invlpgb",
	{space0F, 0x01, 0, 0xff}: "tlbsync",
	{space0F, 0x01, 2, 0xd9}: "vmgexit",
	{space0F, 0x01, 2, 0xe8}: "setssbsy",
	{space0F, 0x01, 2, 0xea}: "saveprevssp",
	{space0F, 0x01, 2, 0xec}: "uiret",
	{space0F, 0x01, 2, 0xed}: "testui",
	{space0F, 0x01, 2, 0xee}: "clui",
	{space0F, 0x01, 2, 0xef}: "stui",
	{space0F, 0x01, 2, 0xfe}: "rmpadjust",
	{space0F, 0x01, 2, 0xff}: "psmash",
	{space0F, 0x01, 3, 0xd9}: "vmgexit",
	{space0F, 0x01, 3, 0xe8}: "xsusldtrk",
	{space0F, 0x01, 3, 0xe9}: "xresldtrk",
	{space0F, 0x01, 3, 0xfe}: "rmpupdate",
	{space0F, 0x01, 3, 0xff}: "pvalidate",
	{space0F, 0x1e, 2, 0xfa}: "endbr64",
	{space0F, 0x1e, 2, 0xfb}: "endbr32",

	{spaceVEX2, 0x49, 0, 0xc0}: "tilerelease",
}

// An amd64NamedRow names an instruction whose operands are written like those of mov.
type amd64NamedRow struct {
	space    amd64Space
	opcode   byte
	simd     byte
	reg      int8 // ModR/M.reg if it chooses the instruction, or -1
	register bool // whether the operand in ModR/M is a register
	name     string
	suffix   bool   // d or q, by operand size, goes behind the name
	operands string // which of mov's: "rm", "rm,reg" or "reg,rm"
	width    int8   // of the operand, in bits; 0 if its prefixes choose it
}

var amd64Named = []amd64NamedRow{
	{space0F, 0x00, 3, 6, true, "lkgs", false, "rm", 16},
	{space0F, 0x00, 3, 6, false, "lkgs", false, "rm", 16},
	{space0F, 0xc7, 0, 6, true, "rdrand", false, "rm", 0},
	{space0F, 0xc7, 0, 7, true, "rdseed", false, "rm", 0},
	{space0F, 0xc7, 2, 6, true, "senduipi", false, "rm", 64},
	{space0F, 0xc7, 2, 7, true, "rdpid", false, "rm", 64},
	{space0F, 0x1e, 2, 1, true, "rdssp", true, "rm", 0},
	{space0F, 0x01, 2, 5, false, "rstorssp", false, "rm", 0},
	{space0F, 0xae, 1, 6, true, "tpause", false, "rm", 0},
	{space0F, 0xae, 1, 6, false, "clwb", false, "rm", 0},
	{space0F, 0xae, 2, 5, true, "incssp", true, "rm", 0},
	{space0F, 0xae, 2, 6, true, "umonitor", false, "rm", 64},
	{space0F, 0xae, 2, 6, false, "clrssbsy", false, "rm", 0},
	{space0F, 0xae, 3, 6, true, "umwait", false, "rm", 0},
	{space0F, 0xb9, 0, -1, true, "ud1", false, "rm,reg", 0},
	{space0F, 0xb9, 0, -1, false, "ud1", false, "rm,reg", 0},
	{space0F, 0xff, 0, -1, true, "ud0", false, "rm,reg", 0},
	{space0F, 0xff, 0, -1, false, "ud0", false, "rm,reg", 0},
	{space0F38, 0xf5, 1, -1, false, "wruss", true, "reg,rm", 0},
	{space0F38, 0xf6, 0, -1, false, "wrss", true, "reg,rm", 0},
	{space0F38, 0xf6, 1, -1, true, "adcx", false, "rm,reg", 0},
	{space0F38, 0xf6, 1, -1, false, "adcx", false, "rm,reg", 0},
	{space0F38, 0xf6, 2, -1, true, "adox", false, "rm,reg", 0},
	{space0F38, 0xf6, 2, -1, false, "adox", false, "rm,reg", 0},
	{space0F38, 0xf8, 1, -1, false, "movdir64b", false, "rm,reg", 64},
	{space0F38, 0xf8, 2, -1, false, "enqcmds", false, "rm,reg", 64},
	{space0F38, 0xf8, 3, -1, false, "enqcmd", false, "rm,reg", 64},
	{space0F38, 0xf9, 0, -1, false, "movdiri", false, "reg,rm", 0},
}

func (row *amd64NamedRow) matches(in *AMD64Inst, modrm byte) bool {
	return row.space == in.space && row.opcode == in.Opcode && row.simd == in.simd() &&
		(row.reg < 0 || byte(row.reg) == modrm>>3&7) && row.register == (modrm >= 0xc0)
}

// text writes the instruction: the operands are those of a mov with the same ModR/M.
func (row *amd64NamedRow) text(in *AMD64Inst, code []byte) string {
	name := row.name
	if row.suffix {
		name += "d"
		if in.rexW() {
			name = row.name + "q"
		}
	}
	rex := in.rex | 0x40
	if row.width == 64 {
		rex |= 8
	}
	opcode := byte(0x8b) // mov rm,reg
	if row.operands == "reg,rm" {
		opcode = 0x89
	}
	mov := amd64AddressPrefixes(code[:in.At])
	if row.width == 16 {
		mov = append(mov, 0x66)
	}
	mov = append(mov, rex, opcode)
	text, ok := x86asmText(append(mov, code[in.ModRM:]...), 0, nil)
	_, operands, found := strings.Cut(text, "mov ")
	if !ok || !found {
		return name
	}
	if row.operands == "rm" {
		operands = operands[:strings.LastIndexByte(operands, ',')]
	}
	return name + " " + operands
}

// amd64AddressPrefixes keeps those prefixes that change a memory operand.
func amd64AddressPrefixes(prefixes []byte) (kept []byte) {
	for _, b := range prefixes {
		if bytes.IndexByte([]byte{0x64, 0x65, 0x67}, b) >= 0 {
			kept = append(kept, b)
		}
	}
	return kept
}
