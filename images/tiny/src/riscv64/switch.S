/* switch.S: from one thread's kernel stack to another's. */
#include "asm.h"

	.text
/* switch_context(u64 *old_sp, u64 new_sp): returns in the other thread. */
FUNC switch_context
	addi sp, sp, -112
	sd ra, 104(sp)
	sd s0, 96(sp)
	sd s1, 88(sp)
	sd s2, 80(sp)
	sd s3, 72(sp)
	sd s4, 64(sp)
	sd s5, 56(sp)
	sd s6, 48(sp)
	sd s7, 40(sp)
	sd s8, 32(sp)
	sd s9, 24(sp)
	sd s10, 16(sp)
	sd s11, 8(sp)
	sd sp, (a0)
	mv sp, a1
	ld ra, 104(sp)
	ld s0, 96(sp)
	ld s1, 88(sp)
	ld s2, 80(sp)
	ld s3, 72(sp)
	ld s4, 64(sp)
	ld s5, 56(sp)
	ld s6, 48(sp)
	ld s7, 40(sp)
	ld s8, 32(sp)
	ld s9, 24(sp)
	ld s10, 16(sp)
	ld s11, 8(sp)
	addi sp, sp, 112
	ret
END switch_context

/* A new kernel thread begins here, its function in s1. */
FUNC thread_begin
	csrsi sstatus, STATUS_SIE
	jalr s1
	call thread_die
END thread_begin
