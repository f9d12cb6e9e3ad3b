/*
 * copy_user.S: copies between the kernel and a user program. Any access may
 * fault. If the address is good the page comes in and the instruction is done
 * again; if not, the exception table sends us to a fixup by the exact pc.
 */
#include "asm.h"

	.text
/* copy_user(to, from, n): the number of bytes that were not copied */
FUNC copy_user
	stp x29, x30, [sp, #-16]!
	mov x29, sp
1:	cmp x2, #8
	b.lo 4f
2:	ldr x3, [x1], #8
3:	str x3, [x0], #8
	sub x2, x2, #8
	b 1b
4:	cbz x2, 7f
5:	ldrb w3, [x1], #1
6:	strb w3, [x0], #1
	sub x2, x2, #1
	b 4b
7:	mov x0, x2
	ldp x29, x30, [sp], #16
	ret
	FIXUP 2b, 7b
	FIXUP 3b, 7b
	FIXUP 5b, 7b
	FIXUP 6b, 7b
END copy_user
