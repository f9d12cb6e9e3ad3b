/* switch.S: from one thread's kernel stack to another's. */
#include "asm.h"

	.text
/* switch_context(u64 *old_sp, u64 new_sp): returns in the other thread. */
FUNC switch_context
	push %rbp
	push %rbx
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, (%rdi)
	mov %rsi, %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	pop %rbp
	ret
END switch_context

/* A new kernel thread begins here, its function in %rbx. */
FUNC thread_begin
	sti
	call *%rbx
	call thread_die
END thread_begin
