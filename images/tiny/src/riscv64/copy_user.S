/*
 * copy_user.S: copies between the kernel and a user program. Any access may
 * fault. If the address is good the page comes in and the instruction is done
 * again; if not, the exception table sends us to a fixup by the exact pc.
 */
#include "asm.h"

	.text
/* copy_user(to, from, n): the number of bytes that were not copied */
FUNC copy_user
	addi sp, sp, -16
	sd ra, 8(sp)
	sd fp, (sp)
	addi fp, sp, 16
	li t1, 8
1:	bltu a2, t1, 4f
2:	ld t0, (a1)
3:	sd t0, (a0)
	addi a0, a0, 8
	addi a1, a1, 8
	addi a2, a2, -8
	j 1b
4:	beqz a2, 7f
5:	lbu t0, (a1)
6:	sb t0, (a0)
	addi a0, a0, 1
	addi a1, a1, 1
	addi a2, a2, -1
	j 4b
7:	mv a0, a2
	ld ra, 8(sp)
	ld fp, (sp)
	addi sp, sp, 16
	ret
	FIXUP 2b, 7b
	FIXUP 3b, 7b
	FIXUP 5b, 7b
	FIXUP 6b, 7b
END copy_user
