// Package patch is the set of breakpoints in guest text, for all providers that need
// them: one breakpoint at an address, however many probes want it.
//
//	Func    the text of a function as it was when last decoded
//	 point  an instruction of it that has a probe: its plan, made once, and while it is
//	        enabled its slot in the trampoline area
//
// Decoding always begins at the start of the function and works on the bytes of the
// running guest, since kernels rewrite their text from their first moments on
// (alternatives, static calls, jump labels, ftrace). Where the guest has not mapped its
// text yet, the bytes of the image file stand in.
//
// When the guest rewrites a page with breakpoints, the functions on it are decoded
// again. A changed instruction gets a new plan and new code in its slot. A point that is
// no longer at the start of an instruction, or whose new instruction cannot be
// displaced, is suspended: its breakpoint is taken away until the text fits again.
//
// A breakpoint instruction in the text belongs to the guest (text_poke, its kprobes). It
// hides the length of the instruction that it stands for; see Func.lengthAt.
package patch
