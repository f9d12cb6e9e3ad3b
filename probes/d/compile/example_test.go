package compile_test

import (
	"fmt"

	"trapline/probes/d/check"
	"trapline/probes/d/compile"
	"trapline/probes/d/syntax"
)

func Example() {
	const script = `kinst::vfs_read:3 /pid == 1/ { self->n++; }`
	tree, err := syntax.Parse("example.d", []byte(script), syntax.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := check.Check(tree, check.Env{}); err != nil {
		fmt.Println(err)
		return
	}
	prog, err := compile.Compile(tree)
	if err != nil {
		fmt.Println(err)
		return
	}
	clause := prog.Clauses[0]
	fmt.Print(prog.Disasm(clause.Pred), "--\n", prog.Disasm(clause.Actions[0].Args[0]))
	// Output:
	//    0  builtin pid                  i
	//    1  push 1                       ii
	//    2  eq                           i
	// --
	//    0  loadself n                   i
	//    1  push 1                       ii
	//    2  add                          i
	//    3  storeself n                  i
	//    4  pop
}
