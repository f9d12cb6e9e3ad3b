// Package trace is a trace while the guest runs: what becomes of a firing.
//
//	Prepare  the machine for the program's code, its buffers, what shows their records
//	Run      BEGIN; the caller lets the guest run
//	  Fire   does it fire now, on this CPU? --> its clauses in program order --> buffers,
//	         aggregations; further hits may be counted by the target, or delivered late
//	  show   a buffer is full, or switchrate of the guest's clock has passed: records --> consume
//	End      END, what is left, aggregations
//
// It knows neither sources nor how a description became probes: both are done when it begins.
package trace
