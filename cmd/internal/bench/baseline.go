package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// A baseline is the ratios of an earlier run, by comparison and row: less is better. It
// holds for another machine about as well, as both sides of a ratio run on the same one.
type baseline map[string]float64

// slack is how much worse a ratio may become.
const slack = 1.10

// A figure is a ratio as it was measured now.
type figure struct {
	median float64
	least  float64 // the lower end of its interval
}

// figures are the ratios of this run, by comparison and row.
type figures map[string]figure

// collect adds the rows of a comparison that are ratios.
func (f figures) collect(c comparison, rows []row) {
	for _, r := range rows {
		if r.Of == "" && len(r.Result) > 0 && (r.Aim == nil || !r.Aim.Least) {
			s := summary(r.Result)
			f[c.name+"/"+r.Name] = figure{s.Center, s.Lo}
		}
	}
}

func readBaseline(name string) (baseline, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	l := baseline{}
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return l, nil
}

func (l baseline) write(name string) error {
	rounded := baseline{}
	for k, v := range l {
		rounded[k] = float64(int(v*1000+0.5)) / 1000
	}
	text, err := json.MarshalIndent(rounded, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

// update returns the ratios of l, with those of now instead for comparisons that were run.
func (l baseline) update(now figures, chosen []comparison) baseline {
	all := baseline{}
	for name, f := range now {
		all[name] = f.median
	}
	for name, v := range l {
		if !of(name, chosen) {
			all[name] = v
		}
	}
	return all
}

// of reports whether a ratio is of one of these comparisons.
func of(name string, chosen []comparison) bool {
	first, _, _ := strings.Cut(name, "/")
	return slices.ContainsFunc(chosen, func(c comparison) bool { return c.name == first })
}

// compare returns an error that names the ratios that are worse than they were: those more than a
// tenth worse, with an interval that lies above the old ratio. So noise alone is not an error. Ratios
// of comparisons that were not run do not matter; a missing one of the others is an error, too.
func (l baseline) compare(now figures, chosen []comparison) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(l)) {
		if !of(name, chosen) {
			continue
		}
		switch v, ok := now[name]; {
		case !ok:
			errs = append(errs, fmt.Errorf("%s: it was %s and was not measured now", name, number(l[name])))
		case v.median > l[name]*slack && v.least > l[name]:
			errs = append(errs, fmt.Errorf("%s: %s (at least %s), it was %s", name, number(v.median), number(v.least), number(l[name])))
		}
	}
	return errors.Join(errs...)
}
