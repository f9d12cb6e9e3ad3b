package vm

import (
	"errors"
	"fmt"

	"trapline/probes/d/agg"
	"trapline/probes/d/code"
)

// maxStatic is how many bytes an array or structure may have that is there all the time, as in DTrace.
const maxStatic = 16 << 10

// check proves what running relies on: the code, by Verify, and that variables, keys and
// actions have the parts that they need, of sizes that can be recorded.
func check(p *code.Program) error {
	if err := p.Verify(); err != nil {
		return err
	}
	for _, v := range p.Vars {
		if err := checkVar(v); err != nil {
			return fmt.Errorf("variable %s: %w", v.Name, err)
		}
	}
	for _, g := range p.Aggs {
		for _, k := range g.Keys {
			if err := checkType(k); err != nil {
				return fmt.Errorf("aggregation @%s: a key: %w", g.Name, err)
			}
		}
	}
	for i, c := range p.Clauses {
		if c.Pred != nil && c.Pred.Type.Kind != code.Int {
			return fmt.Errorf("clause %d: a predicate that is not an integer", i)
		}
		if err := checkOrder(c); err != nil {
			return fmt.Errorf("clause %d: %w", i, err)
		}
		for j, a := range c.Actions {
			if err := checkAction(p, a); err != nil {
				return fmt.Errorf("clause %d, action %d: %w", i, j, err)
			}
		}
	}
	return nil
}

// checkOrder refuses a commit in a clause whose own record is being written to the buffer
// that commit adds to.
func checkOrder(c *code.Clause) error {
	commits, records := false, false
	for _, a := range c.Actions {
		if a.Act == code.Speculate {
			return nil
		}
		commits = commits || a.Act == code.Commit
		records = records || a.Act.Records()
	}
	if commits && records {
		return errors.New("a commit in a clause that records")
	}
	return nil
}

func checkVar(v code.Var) error {
	if v.Scope == code.This && len(v.Keys) > 0 {
		return errors.New("an associative array in this->")
	}
	if v.Type.Kind == code.Frames {
		return errors.New("a stack")
	}
	if v.Static() && v.Type.Kind == code.Bytes && v.Type.Size > maxStatic {
		return fmt.Errorf("it has %d bytes, and at most %d are possible: make it self-> or an associative array", v.Type.Size, maxStatic)
	}
	for _, k := range v.Keys {
		if k.Kind == code.Void {
			return errors.New("a key without a value")
		}
	}
	return checkType(v.Type)
}

func checkType(t code.Type) error {
	switch {
	case t.Kind == code.Void:
		return errors.New("no value")
	case t.Kind == code.Int && t.Size != 1 && t.Size != 2 && t.Size != 4 && t.Size != 8:
		return fmt.Errorf("an integer of %d bytes", t.Size)
	case t.Kind == code.Frames:
		if t.Size < 0 || t.Size > maxFrames {
			return fmt.Errorf("a stack of %d frames", t.Size)
		}
	case t.Size <= 0 || t.Size > code.MaxSize:
		return fmt.Errorf("a value of %d bytes", t.Size)
	}
	return nil
}

func checkAction(p *code.Program, a code.Action) error {
	switch a.Act.Takes() {
	case code.TakesStatement:
		return checkStatement(p, a)
	case code.TakesNothing:
		return checkArgs(a.Args, 0)
	case code.TakesInt, code.TakesAddress:
		return checkInts(a.Args, 1)
	case code.TakesValue, code.TakesObject:
		return checkArgs(a.Args, 1)
	case code.TakesMemory:
		return checkArgs(a.Args, min(max(len(a.Args), 1), 2))
	case code.TakesStrings, code.TakesFormat:
		return checkArgs(a.Args, len(a.Args))
	case code.TakesFrames:
		if a.Depth < 0 {
			return fmt.Errorf("a stack of %d frames", a.Depth)
		}
	case code.TakesAgg:
		if len(a.Aggs) != 1 || len(a.Args) > 1 || a.Act == code.Normalize && len(a.Args) == 0 {
			return errors.New("wrong arguments")
		}
		return checkInts(a.Args, len(a.Args))
	case code.TakesAggs:
		return checkPrinta(p, a)
	default:
		return fmt.Errorf("no action %d", a.Act)
	}
	return nil
}

func checkStatement(p *code.Program, a code.Action) error {
	if a.Act == code.Aggregate {
		return checkAggregate(p, a)
	}
	if len(a.Args) != 1 {
		return fmt.Errorf("%d expressions, not one", len(a.Args))
	}
	return nil
}

func checkArgs(args []*code.Func, n int) error {
	if len(args) != n {
		return fmt.Errorf("%d values, not %d", len(args), n)
	}
	for _, f := range args {
		if err := checkType(f.Type); err != nil {
			return err
		}
	}
	return nil
}

func checkInts(args []*code.Func, n int) error {
	for _, f := range args {
		if f.Type.Kind != code.Int {
			return errors.New("a value that is not an integer")
		}
	}
	return checkArgs(args, n)
}

func checkAggregate(p *code.Program, a code.Action) error {
	if len(a.Aggs) != 1 {
		return fmt.Errorf("%d aggregations, not one", len(a.Aggs))
	}
	g := p.Aggs[a.Aggs[0]]
	n, values := len(g.Keys), 1
	if g.Fn == agg.Count {
		values = 0
	}
	if len(a.Args) != n+values {
		return fmt.Errorf("%d values for %d keys of %s", len(a.Args), n, g.Name)
	}
	for i, k := range g.Keys {
		if f := a.Args[i]; f.Type.Kind != k.Kind {
			return fmt.Errorf("key %d of another type", i+1)
		}
	}
	if err := checkArgs(a.Args[:n], n); err != nil {
		return err
	}
	if a.Incr != nil && a.Incr.Type.Kind != code.Int {
		return errors.New("an increment that is not an integer")
	}
	return checkInts(a.Args[n:], values)
}

func checkPrinta(p *code.Program, a code.Action) error {
	if len(a.Aggs) == 0 {
		return errors.New("no aggregation")
	}
	first := p.Aggs[a.Aggs[0]].Keys
	for _, n := range a.Aggs[1:] {
		keys := p.Aggs[n].Keys
		if len(keys) != len(first) {
			return errors.New("aggregations with different keys")
		}
		for i := range keys {
			if keys[i].Kind != first[i].Kind || keys[i].Size != first[i].Size {
				return errors.New("aggregations with different keys")
			}
		}
	}
	return nil
}
