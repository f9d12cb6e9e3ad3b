package code

import (
	"fmt"
	"strings"
)

// Sub is a subroutine: a function of the language that leaves a value.
type Sub uint8

// Subroutines, as the manual describes them. A string that one makes is cut to the
// strsize option less the NUL. Positions count bytes from 0. An address may be one of the
// guest or of the scratch space, where alloca and copyin put what they make; what is
// written goes to the scratch space, or with copyout to the guest.
const (
	SubAlloca      Sub = iota // (n) address of n bytes of scratch space, all 0
	SubBasename               // (s) what follows the last slash, as basename(1)
	SubBcopy                  // (from, to, n) copies n bytes to the scratch space
	SubCleanpath              // (s) s without ., .. and double slashes
	SubCopyin                 // (a, n) address of a copy of n bytes of the guest
	SubCopyinstr              // (a [, n]) the string at guest address a, of at most n bytes
	SubCopyinto               // (a, n, to) copies n bytes of the guest to the scratch space
	SubCopyout                // (from, a, n) copies n bytes to the guest
	SubCopyoutstr             // (s, a, n) stores s with its NUL in the guest, at most n bytes
	SubDirname                // (s) what precedes it, as dirname(1)
	SubGetmajor               // (dev) major number
	SubGetminor               // (dev) minor number
	SubHtonl                  // (x) 4 bytes in the network's order
	SubHtonll                 // (x) 8 bytes
	SubHtons                  // (x) 2 bytes
	SubIndex                  // (s, t [, from]) first position of t in s at or after from, or -1
	SubInetNtoa               // (a) text of the IPv4 address at a
	SubInetNtoa6              // (a) text of the IPv6 address at a
	SubInetNtop               // (family, a) either
	SubJSON                   // (s, path) an element of the JSON text s, "" if it has none
	SubLltostr                // (x [, base]) x in digits, signed in base 10; base 2 to 36; 8 and 16 get 0 and 0x in front
	SubMemstr                 // (a, c, n) the n bytes at a up to their last as a string, with c for each NUL
	SubNtohl                  // (x)
	SubNtohll                 // (x)
	SubNtohs                  // (x)
	SubProgenyof              // (pid) whether the process is pid or one of its descendants
	SubRand                   // () 32 bits that look random, the same in every run
	SubRindex                 // (s, t [, from]) last position of t in s at or before from, or -1
	SubSpeculation            // () number of a speculation that is free, 0 if there is none
	SubStrchr                 // (s, c) s from the first byte c on, or ""
	SubStrjoin                // (s, t) both
	SubStrlen                 // (s) bytes without the NUL
	SubStrrchr                // (s, c) s from the last byte c on, or ""
	SubStrstr                 // (s, t) s from the first t on, or ""
	SubStrtok                 // (delims [, s]) first token of s, or the next one of the last s; "" if there is none
	SubStrtoll                // (s [, base]) the number that s begins with
	SubSubstr                 // (s, from [, n]) part of s; a negative from counts from its end, a negative n leaves off -n at the end
	SubTolower                // (s) ASCII letters changed
	SubToupper                // (s)
	subMax
)

// The prototypes: name, letters of the arguments with "/" before the optional ones, and
// the letter of the result, if there is one.
var subs = [subMax]struct {
	name, args, result string
}{
	SubAlloca:      {"alloca", "i", "i"},
	SubBasename:    {"basename", "s", "s"},
	SubBcopy:       {"bcopy", "iii", ""},
	SubCleanpath:   {"cleanpath", "s", "s"},
	SubCopyin:      {"copyin", "ii", "i"},
	SubCopyinstr:   {"copyinstr", "i/i", "s"},
	SubCopyinto:    {"copyinto", "iii", ""},
	SubCopyout:     {"copyout", "iii", ""},
	SubCopyoutstr:  {"copyoutstr", "sii", ""},
	SubDirname:     {"dirname", "s", "s"},
	SubGetmajor:    {"getmajor", "i", "i"},
	SubGetminor:    {"getminor", "i", "i"},
	SubHtonl:       {"htonl", "i", "i"},
	SubHtonll:      {"htonll", "i", "i"},
	SubHtons:       {"htons", "i", "i"},
	SubIndex:       {"index", "ss/i", "i"},
	SubInetNtoa:    {"inet_ntoa", "i", "s"},
	SubInetNtoa6:   {"inet_ntoa6", "i", "s"},
	SubInetNtop:    {"inet_ntop", "ii", "s"},
	SubJSON:        {"json", "ss", "s"},
	SubLltostr:     {"lltostr", "i/i", "s"},
	SubMemstr:      {"memstr", "iii", "s"},
	SubNtohl:       {"ntohl", "i", "i"},
	SubNtohll:      {"ntohll", "i", "i"},
	SubNtohs:       {"ntohs", "i", "i"},
	SubProgenyof:   {"progenyof", "i", "i"},
	SubRand:        {"rand", "", "i"},
	SubRindex:      {"rindex", "ss/i", "i"},
	SubSpeculation: {"speculation", "", "i"},
	SubStrchr:      {"strchr", "si", "s"},
	SubStrjoin:     {"strjoin", "ss", "s"},
	SubStrlen:      {"strlen", "s", "i"},
	SubStrrchr:     {"strrchr", "si", "s"},
	SubStrstr:      {"strstr", "ss", "s"},
	SubStrtok:      {"strtok", "s/s", "s"},
	SubStrtoll:     {"strtoll", "s/i", "i"},
	SubSubstr:      {"substr", "si/i", "s"},
	SubTolower:     {"tolower", "s", "s"},
	SubToupper:     {"toupper", "s", "s"},
}

// Destructive says that the subroutine changes the guest.
func (s Sub) Destructive() bool { return s == SubCopyout || s == SubCopyoutstr }

// Leaves says that the subroutine leaves a value.
func (s Sub) Leaves() bool { return subs[s].result != "" }

// Subs lists the subroutines in the order of their numbers.
func Subs() []Sub {
	s := make([]Sub, subMax)
	for i := range s {
		s[i] = Sub(i)
	}
	return s
}

func (s Sub) String() string {
	if s < subMax {
		return subs[s].name
	}
	return fmt.Sprintf("sub(%d)", uint8(s))
}

// Args is how many arguments s takes: at least min, at most max.
func (s Sub) Args() (min, max int) {
	must, may, _ := strings.Cut(subs[s].args, "/")
	return len(must), len(must) + len(may)
}

// Signature is the kinds of the arguments, optional ones included, and of the result.
func (s Sub) Signature() (args []Kind, result Kind) {
	in, out := s.signature()
	for _, c := range []byte(in) {
		args = append(args, kindOf(c))
	}
	if out == "" {
		return args, Void
	}
	return args, kindOf(out[0])
}

// signature is Signature in letters.
func (s Sub) signature() (pop, push string) {
	return strings.Replace(subs[s].args, "/", "", 1), subs[s].result
}

func kindOf(letter byte) Kind {
	switch letter {
	case 'i':
		return Int
	case 's':
		return String
	case 'b':
		return Bytes
	case 'f':
		return Frames
	}
	return Void
}
