package main

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

// flatLine is a line of the benchmark of loops that do nothing else, with and without the clock.
var flatLine = regexp.MustCompile(`(?m)^BenchmarkFlat/(\w+)/(clock|bare)\S*\s.*\s([\d.]+) cpu-ns/op`)

// keepingTime measures what the guest's clock costs, inside the emulator: a process has other
// things to do besides.
func keepingTime(b *bench) ([]row, error) {
	var rows []row
	for range b.count(7) {
		cmd := exec.CommandContext(b.ctx, "go", "test", "-run", "^$", "-bench", "Flat", "-benchtime", "20000000x", "./emu/internal/unicorn")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, lastLine(string(out)))
		}
		if rows, err = addFlat(rows, string(out)); err != nil {
			return nil, err
		}
	}
	for i := range rows {
		rows[i].Result = pairwise(rows[i].A, rows[i].B, ratio)
	}
	return rows, nil
}

// addFlat adds a round to rows.
func addFlat(rows []row, out string) ([]row, error) {
	at := map[string]int{}
	for i, r := range rows {
		at[r.Name] = i
	}
	for _, m := range flatLine.FindAllStringSubmatch(out, -1) {
		ns, err := strconv.ParseFloat(m[3], 64)
		i, known := at[m[1]]
		if !known {
			i = len(rows)
			at[m[1]] = i
			rows = append(rows, row{Name: m[1], Unit: "ns", Aim: atMost(1.3)})
		}
		if err != nil || ns <= 0 {
			return nil, cmp.Or(err, errors.New("a loop without CPU time"))
		}
		if m[2] == "clock" {
			rows[i].A = append(rows[i].A, ns)
		} else {
			rows[i].B = append(rows[i].B, ns)
		}
	}
	return rows, nil
}
