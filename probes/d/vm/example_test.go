package vm_test

import (
	"fmt"

	"trapline/probes/d/agg"
	"trapline/probes/d/code"
	"trapline/probes/d/option"
	"trapline/probes/d/vm"
)

// hit is a guest; the program asks it for the function's name alone.
type hit struct {
	vm.Env
	probe vm.Probe
}

func (h hit) Probe() *vm.Probe { return &h.probe }

// { @[probefunc] = count(); }
func ExampleMachine_Fire() {
	str := code.Probefunc.Type()
	name := &code.Func{Type: str, Code: []code.Instr{{Op: code.OpBuiltin, Imm: uint64(code.Probefunc)}}}
	m, err := vm.New(&code.Program{
		Aggs: []code.Agg{{Fn: agg.Count, Keys: []code.Type{str}}},
		Clauses: []*code.Clause{{Actions: []code.Action{
			{Act: code.Aggregate, Aggs: []int{0}, Args: []*code.Func{name}},
		}}},
	}, option.DefaultLimits())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range []string{"vfs_read", "vfs_write", "vfs_read"} {
		m.Fire(hit{probe: vm.Probe{Func: f}}, []vm.Enabling{{EPID: 1, Clause: 0}})
	}
	for _, row := range agg.Snapshot(agg.Order{}, m.Tables()[0]) {
		fmt.Printf("%s %d\n", row.Key[0].Bytes, row.Data[0][0])
	}
	// Output:
	// vfs_write 1
	// vfs_read 2
}
