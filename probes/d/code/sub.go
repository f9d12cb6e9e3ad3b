package code

import (
	"fmt"
	"strings"
)

// Sub is a subroutine: a function of the language that leaves a value.
type Sub uint8

// Subroutines, as the manual describes them. A string that one makes is cut to the
// strsize option less the NUL. Positions count bytes from 0.
const (
	SubBasename    Sub = iota // (s) what follows the last slash, as basename(1)
	SubCopyinstr              // (a [, n]) the string at guest address a, of at most n bytes
	SubDirname                // (s) what precedes it, as dirname(1)
	SubIndex                  // (s, t [, from]) first position of t in s at or after from, or -1
	SubLltostr                // (x [, base]) x in digits, signed in base 10; base 2 to 36; 8 and 16 get 0 and 0x in front
	SubRindex                 // (s, t [, from]) last position of t in s at or before from, or -1
	SubSpeculation            // () number of a speculation that is free, 0 if there is none
	SubStrchr                 // (s, c) s from the first byte c on, or ""
	SubStrjoin                // (s, t) both
	SubStrlen                 // (s) bytes without the NUL
	SubStrrchr                // (s, c) s from the last byte c on, or ""
	SubStrstr                 // (s, t) s from the first t on, or ""
	SubSubstr                 // (s, from [, n]) part of s; a negative from counts from its end, a negative n leaves off -n at the end
	SubTolower                // (s) ASCII letters changed
	SubToupper                // (s)
	subMax
)

// The prototypes: name, letters of the arguments with "/" before the optional ones, and
// the letter of the result.
var subs = [subMax]struct {
	name, args, result string
}{
	SubBasename:    {"basename", "s", "s"},
	SubCopyinstr:   {"copyinstr", "i/i", "s"},
	SubDirname:     {"dirname", "s", "s"},
	SubIndex:       {"index", "ss/i", "i"},
	SubLltostr:     {"lltostr", "i/i", "s"},
	SubRindex:      {"rindex", "ss/i", "i"},
	SubSpeculation: {"speculation", "", "i"},
	SubStrchr:      {"strchr", "si", "s"},
	SubStrjoin:     {"strjoin", "ss", "s"},
	SubStrlen:      {"strlen", "s", "i"},
	SubStrrchr:     {"strrchr", "si", "s"},
	SubStrstr:      {"strstr", "ss", "s"},
	SubSubstr:      {"substr", "si/i", "s"},
	SubTolower:     {"tolower", "s", "s"},
	SubToupper:     {"toupper", "s", "s"},
}

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
