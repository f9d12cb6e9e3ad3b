package interleave

// Shrink takes switches out of a list as long as what is looked for still shows: delta debugging
// (Zeller, Hildebrandt, Simplifying and Isolating Failure-Inducing Input, TSE 2002). What is left
// has no switch that could be left out alone, nor two, unless there were too many to try.
//
// shows is asked for the first of some lists with which it shows, -1 for none; it may try them
// side by side. No more than about limit of them are tried; how many, is returned too.
func Shrink(list []Switch, limit int, shows func(candidates [][]Switch) int) (left []Switch, tried int) {
	try := func(candidates [][]Switch) (i int) {
		candidates = candidates[:min(len(candidates), limit-tried)]
		if i = shows(candidates); i >= 0 {
			list = candidates[i]
			tried += i + 1
		} else {
			tried += len(candidates)
		}
		return i
	}
	if len(list) == 0 || limit < 1 || try([][]Switch{nil}) == 0 {
		return list, tried
	}
	for parts := 2; len(list) > 1 && tried < limit; {
		parts = min(parts, len(list))
		switch i := try(reductions(list, parts)); {
		case i >= 0 && i < parts:
			parts = 2
		case i >= 0:
			parts = max(parts-1, 2)
		case parts < len(list):
			parts *= 2
		case len(list) > mostForPairs || tried == limit || try(withoutPairs(list)) < 0:
			return list, tried
		}
	}
	return list, tried
}

// mostForPairs is up to how many switches two are left out that are not next to each other: one
// takes the turn away, another gives it back.
const mostForPairs = 20

// withoutPairs are what is left without two.
func withoutPairs(list []Switch) (all [][]Switch) {
	for j := range list {
		for i := range j {
			rest := append(append([]Switch(nil), list[:i]...), list[i+1:j]...)
			all = append(all, append(rest, list[j+1:]...))
		}
	}
	return all
}

// reductions are the parts of the list, so many, and what is left without one of them.
func reductions(list []Switch, parts int) (all [][]Switch) {
	cut := func(i int) int { return i * len(list) / parts }
	for i := range parts {
		all = append(all, list[cut(i):cut(i+1)])
	}
	for i := range parts {
		if parts > 2 { // of two parts that is the other one
			all = append(all, append(append([]Switch(nil), list[:cut(i)]...), list[cut(i+1):]...))
		}
	}
	return all
}
