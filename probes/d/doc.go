// Package d is the D language: one package for each step from the text of a script to
// the text of its output. This one is empty; it says how they hang together.
//
//	syntax    text -> tree           scanner, parser, and Print back to text
//	desugar   tree -> tree           if/else into clauses
//	library                          D programs that are read before the user's
//	check     tree -> typed tree     names, types, constants; errors with stable tags
//	compile   typed tree -> code     one function for each expression
//	option                           what -x and pragmas set, in one table
//	code      what is run            bytecode, its verifier and disassembly; printf formats
//	vm        runs code at a firing  values, variables, faults
//	agg       aggregations           and their sorting
//	buffer    records                from the firing to the consumer
//	consume   records -> text        what dtrace(1) prints
//
// Imports go from compile to check to syntax, and from all to code, which imports
// of them only agg. None of them knows a provider, an architecture or the emulator: the
// session gives check an Env of names, and the vm an Env of the guest.
package d
