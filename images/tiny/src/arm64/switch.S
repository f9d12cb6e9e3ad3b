/* switch.S: from one thread's kernel stack to another's. */
#include "asm.h"

	.text
/* switch_context(u64 *old_sp, u64 new_sp): returns in the other thread. */
FUNC switch_context
	stp x29, x30, [sp, #-96]!
	stp x19, x20, [sp, #16]
	stp x21, x22, [sp, #32]
	stp x23, x24, [sp, #48]
	stp x25, x26, [sp, #64]
	stp x27, x28, [sp, #80]
	mov x9, sp
	str x9, [x0]
	mov sp, x1
	ldp x19, x20, [sp, #16]
	ldp x21, x22, [sp, #32]
	ldp x23, x24, [sp, #48]
	ldp x25, x26, [sp, #64]
	ldp x27, x28, [sp, #80]
	ldp x29, x30, [sp], #96
	ret
END switch_context

/* A new kernel thread begins here, its function in x19. */
FUNC thread_begin
	msr daifclr, #2
	blr x19
	bl thread_die
END thread_begin
