package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"trapline/images"
	"trapline/insn"
	"trapline/kernel"
	"trapline/probes"
	"trapline/probes/fbt"
	"trapline/probes/kinst"
)

const completionNotes = `Put this into a start-up file of the shell: commands, flags, images, functions and probes
complete.

  bash   source <(trapline completion bash)
  zsh    source <(trapline completion zsh)
  fish   trapline completion fish | source
`

// shells have a program each that asks 'trapline complete WORD...' what the last word may
// become. Bash takes a colon for the end of a word, so what is before one is left out.
var shells = map[string]string{
	"bash": `_trapline() {
	local line="${COMP_LINE:0:COMP_POINT}" word before= c
	word="${line##*[[:space:]]}"
	local words=(${line%"$word"})
	word="${word#[\'\"]}"
	[[ $COMP_WORDBREAKS == *:* && $word == *:* ]] && before="${word%"${word##*:}"}"
	COMPREPLY=()
	while IFS= read -r c; do
		COMPREPLY+=("${c#"$before"}")
	done < <(trapline complete "${words[@]:1}" "$word" 2>/dev/null)
	[[ ${COMPREPLY[0]} == *[:,/] ]] && compopt -o nospace 2>/dev/null
}
complete -o default -F _trapline trapline
`,
	"zsh": `#compdef trapline
_trapline() {
	local -a found after
	found=(${(f)"$(trapline complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)"})
	[[ $found[1] == *[:,/] ]] && after=(-S '')
	(( $#found )) && compadd "${after[@]}" -- $found || _files
}
if [[ $funcstack[1] == _trapline ]]; then _trapline; else compdef _trapline trapline; fi
`,
	"fish": `function __trapline
	set -l word (commandline -ct | string replace -r '^[\'"]' '')
	set -l found (trapline complete (commandline -opc)[2..-1] "$word" 2>/dev/null)
	test -n "$found" && printf '%s\n' $found || __fish_complete_path $word
end
complete -c trapline -f -a '(__trapline)'
`,
}

// runCompletion writes the program for a shell.
func runCompletion(e *env, args []string) error {
	f := e.newFlags("completion", completionNotes)
	if err := parse(f, args); err != nil {
		return err
	}
	text, ok := shells[f.Arg(0)]
	if !ok || f.NArg() != 1 {
		return usagef("completion: say bash, zsh or fish")
	}
	fmt.Fprint(e.stdout, text)
	return nil
}

// complete writes what the last of words may become, one a line.
func (e *env) complete(words []string) error {
	if len(words) == 0 {
		return nil
	}
	last := words[len(words)-1]
	found := candidates(words[:len(words)-1], last)
	found = slices.DeleteFunc(found, func(c string) bool { return !strings.HasPrefix(c, last) })
	slices.Sort(found)
	for _, c := range slices.Compact(found) {
		fmt.Fprintln(e.stdout, c)
	}
	return nil
}

// candidates are words that may follow, those that do not begin with last among them.
func candidates(before []string, last string) (found []string) {
	if len(before) == 0 {
		for _, c := range append(commands(), command{name: "help"}) {
			found = append(found, c.name)
		}
		return found
	}
	c, err := find(before[0])
	if err != nil {
		return nil
	}
	m := c.manual()
	flag := flagOf(m.flags, before[len(before)-1])
	switch {
	case flag == "image":
		return imageNames()
	case slices.Contains([]string{"name", "function"}, flag) || c.name == "explain" && flag == "":
		return probeNames(imageIn(m.flags, before), last)
	case flag != "":
		return nil // a value that is the user's own, or a file
	case strings.HasPrefix(last, "-"):
		return flagNames(m.flags)
	}
	return append(words(c, before), operands(c, m.flags, before)...)
}

// words are those that a command takes as they are: those in its arguments without capitals.
func words(c command, before []string) (found []string) {
	if len(before) > 1 {
		return nil
	}
	for _, w := range strings.FieldsFunc(c.args, func(r rune) bool { return strings.ContainsRune(" |[]", r) }) {
		if w == strings.ToLower(w) && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" {
			found = append(found, w)
		}
	}
	return found
}

// operands are the images or functions that a command takes.
func operands(c command, f *pflag.FlagSet, before []string) []string {
	switch c.name {
	case "boot", "diff", "explore", "image", "snapshot":
		return imageNames()
	case "disas", "annotate", "inline":
		return functionNames(imageIn(f, before))
	}
	return nil
}

// flagOf is the name of the flag that wants the next word as its value, "" if the word
// before is none.
func flagOf(f *pflag.FlagSet, word string) string {
	var flag *pflag.Flag
	switch {
	case strings.HasPrefix(word, "--"):
		flag = f.Lookup(word[2:])
	case len(word) == 2 && word[0] == '-' && word[1] != '-':
		flag = f.ShorthandLookup(word[1:])
	}
	if flag == nil || flag.NoOptDefVal != "" {
		return ""
	}
	return flag.Name
}

func flagNames(f *pflag.FlagSet) (found []string) {
	f.VisitAll(func(x *pflag.Flag) {
		if !x.Hidden {
			found = append(found, "--"+x.Name)
		}
	})
	return found
}

func imageNames() (found []string) {
	for _, s := range (images.Store{}).List() {
		found = append(found, s.Name)
	}
	return found
}

// imageIn is the image that a command line names, or the default.
func imageIn(f *pflag.FlagSet, before []string) string {
	for i, w := range before[:len(before)-1] {
		if flagOf(f, w) == "image" {
			return before[i+1]
		}
	}
	return defaultImage()
}

// symbolsOf opens the symbols of an image; the function that it returns closes it.
func symbolsOf(image string) (*kernel.Image, func()) {
	k, err := (&guestOptions{image: image}).openKernel(true)
	if err != nil {
		return nil, func() {}
	}
	return k.Image, k.Close
}

func functionNames(image string) (found []string) {
	img, done := symbolsOf(image)
	defer done()
	if img == nil {
		return nil
	}
	for _, s := range sizedFunctions(img) {
		found = append(found, s.Name)
	}
	return found
}

// probeNames are probes that begin like word: up to the function, and, when that is there,
// the offsets of its instructions.
func probeNames(image, word string) (found []string) {
	provider, rest, ok := strings.Cut(word, ":")
	if !ok {
		return []string{"kinst::", "fbt::", "profile:::", "BEGIN", "END", "ERROR", "tick-1ms", "profile-1ms"}
	}
	module, rest, ok := strings.Cut(rest, ":")
	if !ok {
		return nil
	}
	head := provider + ":" + module + ":"
	function, _, ok := strings.Cut(rest, ":")
	about := ofFunctions[provider]
	switch {
	case about == nil:
		return nil
	case !ok:
		for _, name := range functionNames(image) {
			found = append(found, head+name+":")
		}
		return found
	}
	for _, name := range about.Names {
		found = append(found, head+function+":"+name)
	}
	if about.Offsets {
		for _, off := range offsets(image, function) {
			found = append(found, fmt.Sprintf("%s%s:%d", head, function, off))
		}
	}
	return found
}

// ofFunctions are the providers of probes in functions.
var ofFunctions = map[string]*probes.About{kinst.Name: &kinst.About, fbt.Name: &fbt.About}

// offsets are those of a function's instructions.
func offsets(image, function string) (all []int) {
	img, done := symbolsOf(image)
	defer done()
	if img == nil {
		return nil
	}
	set, err := insn.For(img.Arch())
	for _, s := range img.Symtab().Lookup(function) {
		code := make([]byte, s.Size)
		if err != nil || img.Text(s.Addr, code) != nil {
			continue
		}
		set.Walk(code, s.Addr, func(off, n int) bool {
			all = append(all, off)
			return true
		}) // what is no instruction has no offset
	}
	return all
}
