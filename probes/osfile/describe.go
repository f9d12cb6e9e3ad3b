package osfile

import (
	"fmt"

	"trapline/kernel/guestos"
	"trapline/probes/d/code"
)

// describe says what the constants mean.
func (b *builder) describe(k *described) error {
	known := *b.Base.System()
	k.system = &known
	known.ThreadTag = b.tag
	if begin := b.constant(panicLine); begin != "" {
		known.PanicLine = func(line string) bool { return guestos.Begins(line, begin) }
	}
	if k.switches = b.constant(switchFunc); k.switches != "" && len(b.Symbols.Lookup(k.switches)) == 0 {
		return fmt.Errorf("%s: the kernel has no function %s", switchFunc, k.switches)
	}
	table := b.constant(sysTable)
	if table == "" {
		return nil
	}
	if err := b.findTable(table); err != nil {
		return err
	}
	known.Calls = guestos.TableCalls(table, b.constant(sysPrefix), b.args(k))
	return nil
}

// constant is the value of a constant, "" for one that is not defined.
func (b *builder) constant(name string) string {
	fn := b.funcs[name]
	if fn == nil {
		return ""
	}
	v, _, _ := b.machine.Eval(&view{}, fn) // it asks for nothing
	return string(b.machine.Text(v))
}

// findTable fails if there is no table with that symbol.
func (b *builder) findTable(name string) error {
	found := b.Symbols.Lookup(name)
	switch {
	case len(found) == 0:
		return fmt.Errorf("%s: the kernel has no symbol %s", sysTable, name)
	case found[0].Size == 0:
		return fmt.Errorf("%s: the symbol %s has no size: where the table ends is not known", sysTable, name)
	}
	return nil
}

// args are where the arguments of system calls are: nil for those that the functions take themselves.
func (b *builder) args(k *described) *guestos.CallArgs {
	if !b.has(sysArg) {
		return nil
	}
	var fns [maxArgs]*code.Func
	for i := range fns {
		fns[i] = b.funcs[argName(i)]
	}
	return &guestos.CallArgs{Read: func(mem guestos.Mem, regs guestos.Numbered, i int) (uint64, error) {
		k.at(mem, regs)
		return k.compute(fns[i])
	}}
}
