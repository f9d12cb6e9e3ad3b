// Package fbt is the provider of probes at the boundaries of functions.
//
//	fbt:<module>:<function>:entry   the first instruction; arg0 to arg9 are the arguments
//	fbt:<module>:<function>:return  every way out of the function
//
//	        entry -->  push %rbp            arg0 = where it leaves, in bytes from the start
//	                   ...                  arg1 = the value that it returns
//	        return --> ret                  arg2 = 0
//	                   ...
//	        return --> jne  other_function  if it jumps: arg1 = 0, for the value is not known
//	        return --> jmp  *%rax           yet, arg2 = where it goes on
//
// A way out is a return, or a jump that leaves the function: a tail call, whose callee
// returns in its place. A conditional or indirect jump fires only when it does leave. A
// jump back to the function's first instruction counts as a tail call of itself, so that
// there is a return for each entry.
//
// A function consists of its symbol's bytes, of those of its .cold pieces, to which it
// jumps, and of code without a symbol that it jumps to. Clones that compilers make, such as f.isra.0 and f.part.0, are called and return,
// and are functions of their own under the names in the symbol table.
//
// Kernels rewrite their text: what is a way out is decided anew when a function's text
// changes.
package fbt
