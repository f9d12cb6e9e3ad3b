package arch

import "fmt"

// A Table is what a package knows of each architecture: a row for each, in the file of that
// architecture.
//
//	var courses arch.Table[*course]                       // story.go
//
//	var riscv64 = courses.Row(arch.RISCV64, &course{...}) // riscv64_course.go
//
// Adding an architecture adds rows and edits no table. A row is found by its architecture alone,
// so the order in which files add rows does not show. The zero Table is empty.
type Table[T any] struct{ rows map[*Arch]T }

// Row adds the row of an architecture, which must have none yet, and returns it. It is called
// to initialize a variable of the package that has the table.
func (t *Table[T]) Row(a *Arch, row T) T {
	if _, ok := t.rows[a]; ok {
		panic(fmt.Sprintf("a table has two rows for %s", a))
	}
	if t.rows == nil {
		t.rows = map[*Arch]T{}
	}
	t.rows[a] = row
	return row
}

// Of returns the row of an architecture. It is not ok if there is none.
func (t *Table[T]) Of(a *Arch) (row T, ok bool) {
	row, ok = t.rows[a]
	return row, ok
}
