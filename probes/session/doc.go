// Package session joins a guest, its kernel image and D programs to one trace.
//
//	New      a Target, the image's symbols and text, what is known of the guest's OS
//	Compile  D sources -> code.Program -> the probes that it describes, made on demand
//	Start    breakpoints planted, BEGIN fired; the caller lets the guest run
//	  trace  a provider's probe -> its clauses in program order -> buffers, aggregations
//	Finish   END, what is left, aggregations, cross-check; breakpoints gone
//
// What was recorded is shown when a buffer is full, every switchrate of the guest's
// clock, at once after a clause with printa, and at the end. The guest stands still
// meanwhile: nothing depends on when the host gets round to it.
//
// It joins rooms: sources become a program in package front, descriptions probes in package resolve.
// What becomes of a firing is package trace, modules that the guest loads are package modules, what a
// program does to the host is package host.
package session
