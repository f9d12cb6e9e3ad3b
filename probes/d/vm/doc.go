// Package vm runs a compiled D program at the firings of its probes.
//
//	session: a probe fires --Fire(env, enablings)--> Machine
//	                                                    | for each clause: predicate, actions
//	         registers, memory, thread, ... <--Env------|
//	                                                    +--> buffer.Buffer   records
//	                                                    +--> agg.Table       aggregations
//	                                                    +--> Fault, exit status
//
// The guest is asked for what a clause uses and for nothing else. Integer, string and
// aggregating clauses allocate nothing once their variables and keys exist.
//
// A fault ends the clause for this firing: its record is forgotten, what it has stored or
// aggregated stays, and OnFault is called before the next clause of the firing.
package vm
