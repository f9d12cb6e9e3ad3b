package check

import (
	"trapline/probes/d/code"
	"trapline/probes/d/syntax"
)

// order is what has been met in a clause: commit and speculate decide where the rest of
// what is recorded goes, so little may stand before them or after them.
type order struct {
	commit, speculate bool
	record            bool // recorded before any speculate
}

// class says what a statement does for that order.
type class uint8

const (
	silent class = iota // records nothing
	records
	aggregates
	destroys
	exits
	commits
	speculates
)

// ordered checks the place of a statement in its clause.
func (c *checker) ordered(x syntax.Expr) {
	o := &c.order
	var tag syntax.Tag
	var text string
	switch k := classOf(x); {
	case k == commits && o.commit:
		tag, text = CommComm, "commit( ) may not follow commit( )"
	case k == commits && o.record:
		tag, text = CommDrec, "commit( ) may not follow data-recording action(s)"
	case k == speculates && o.speculate:
		tag, text = SpecSpec, "speculate( ) may not follow speculate( )"
	case k == speculates && o.commit:
		tag, text = SpecComm, "speculate( ) may not follow commit( )"
	case k == speculates && o.record:
		tag, text = SpecDrec, "speculate( ) may not follow data-recording action(s)"
	case k == aggregates && o.commit:
		tag, text = AggComm, "aggregating actions may not follow commit( )"
	case k == aggregates && o.speculate:
		tag, text = AggSpec, "aggregating actions may not follow speculate( )"
	case k == destroys && o.speculate:
		tag, text = ActSpec, "destructive actions may not follow speculate( )"
	case k == exits && o.speculate:
		tag, text = ExitSpec, "exit( ) may not follow speculate( )"
	case (k == records || k == exits) && o.commit:
		tag, text = DrecComm, "data-recording actions may not follow commit( )"
	default:
		o.note(k)
		return
	}
	c.fail(x, tag, "%s", text)
}

func (o *order) note(k class) {
	switch k {
	case commits:
		o.commit = true
	case speculates:
		o.speculate = true
	case records, aggregates, exits:
		o.record = o.record || !o.speculate
	}
}

// classOf classes a statement that has been checked.
func classOf(x syntax.Expr) class {
	switch ref := x.Info().Ref.(type) {
	case *Agg:
		return aggregates
	case code.Sub:
		if ref.Destructive() {
			return destroys
		}
	case code.Act:
		if _, ok := x.(*syntax.Call); ok {
			return actClass(ref)
		}
	}
	return silent
}

func actClass(a code.Act) class {
	switch a {
	case code.Commit:
		return commits
	case code.Speculate:
		return speculates
	case code.Exit:
		return exits
	case code.Discard:
		return silent
	}
	if a.Destructive() {
		return destroys
	}
	return records
}
