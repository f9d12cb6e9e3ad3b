// Package sdt provides the static probes of a kernel, and those that stand for something
// well known in it.
//
//	DTRACE_PROBE in the source   PROVIDER:MODULE:FUNCTION:NAME   a no-operation; the arguments
//	                                                          are where a function's are
//	a tracepoint of Linux        sdt:vmlinux:FUNCTION:NAME       a no-operation too; nothing
//	                                                          has computed the arguments
//	sched:::on-cpu and others    SCHED:vmlinux:FUNCTION:NAME     a place of the kernel's, or a
//	                                                          tracepoint under another name
//
// A probe is made of Places: each is an instruction, with a way to the arguments. Which
// there are is known when the session begins, or a module is loaded.
package sdt
