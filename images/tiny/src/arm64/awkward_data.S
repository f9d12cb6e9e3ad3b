/* awkward_data.S: memory with a base that changes, pairs, atomic sequences. */
#include "awkward.h"

	.text
	.pushsection .data
	.balign 16
.Lroom:	.skip 64
	.popsection

AWKWARD index_modes
	adrp x0, .Lroom
	add x0, x0, :lo12:.Lroom
	mov x20, x0
	mov x1, #0x1111
	mov x2, #0x2222
	str x1, [x0], #8
	str x2, [x0, #8]!
	sub x3, x0, x20
	IS x3, 16
	ldr x3, [x0, #-16]!
	EQUAL x3, x1
	EQUAL x0, x20
	ldr x3, [x0], #16
	ldr x3, [x0], #-16
	EQUAL x3, x2
	EQUAL x0, x20
	ldrb w3, [x0, #1]!
	IS x3, 0x11
	ldrsh x3, [x0, #-1]!
	IS x3, 0x1111
	mov w4, #-2
	add x5, x0, #16
	strh w2, [x5, w4, sxtw #1]
	ldrh w3, [x0, #12]
	EQUAL x3, x2
	ldur x3, [x5, #-16]
	EQUAL x3, x1
DONE index_modes

AWKWARD pairs
	adrp x0, .Lroom
	add x0, x0, :lo12:.Lroom
	mov x20, x0
	mov x1, #-5
	mov x2, #6
	stp x1, x2, [x0], #32
	stp x2, x1, [x0, #-16]!
	ldp x3, x4, [x0], #-16
	EQUAL x3, x2
	EQUAL x4, x1
	EQUAL x0, x20
	ldp x3, x4, [x0, #16]!
	EQUAL x3, x2
	ldpsw x3, x4, [x0, #-16]
	IS x3, -5
	IS x4, -1
	mov x3, sp
	stp x1, x2, [sp, #-16]!
	mov x4, sp
	ldp x5, x6, [sp], #16
	mov x7, sp
	EQUAL x7, x3
	sub x3, x3, #16
	EQUAL x4, x3
	EQUAL x5, x1
	EQUAL x6, x2
DONE pairs

WORD far_a, 0
WORD far_b, 0
AWKWARD misaligned
	adrp x0, far_a
	add x0, x0, :lo12:far_a
	ldr x1, =0x1122334455667788
	stp xzr, xzr, [x0]
	stur x1, [x0, #3]
	ldur x2, [x0, #3]
	EQUAL x1, x2
	ldur w2, [x0, #5]
	IS x2, 0x33445566
	ldurh w2, [x0, #9]
	IS x2, 0x1122
DONE misaligned

WORD shared_a, 7
/* Nothing may stand between the two: a tracer must not come in. */
AWKWARD exclusives
	adrp x0, shared_a
	add x0, x0, :lo12:shared_a
	mov x1, #7
	str x1, [x0]
	mov x2, #100
1:	ldxr x1, [x0]
	add x1, x1, #3
	stxr w3, x1, [x0]
	cbnz w3, 1b
	subs x2, x2, #1
	b.ne 1b
	ldr x1, [x0]
	IS x1, 307
2:	ldaxr w1, [x0]
	cmp w1, #1
	b.ne 3f				/* out of the middle */
	stlxr w3, w1, [x0]
	cbnz w3, 2b
3:	IS x1, 307
	clrex
	stxr w3, x1, [x0]		/* nothing reserved */
	IS x3, 1
4:	ldaxrb w1, [x0]
	stxrb w3, w1, [x0]
	cbnz w3, 4b
	adrp x4, .Lroom
	add x4, x4, :lo12:.Lroom
	stp x0, x1, [x4]
5:	ldaxp x5, x6, [x4]
	stlxp w3, x6, x5, [x4]
	cbnz w3, 5b
	ldp x6, x5, [x4]
	EQUAL x5, x0
	EQUAL x6, x1
	ldar x1, [x0]
	stlr x1, [x0]
	IS x1, 307
DONE exclusives

AWKWARD zero_block
	adrp x0, .Lblock
	add x0, x0, :lo12:.Lblock
	mov x1, #-1
	str x1, [x0, #8]
	dc zva, x0
	ldr x1, [x0, #8]
	IS x1, 0
	.pushsection .bss
	.balign 2048
.Lblock:
	.skip 2048
	.popsection
DONE zero_block

AWKWARD arithmetic
	mov x0, #7
	udiv x1, x0, xzr
	IS x1, 0
	mov x0, #1 << 63
	mov x1, #-1
	sdiv x2, x0, x1
	EQUAL x2, x0
	umulh x2, x0, x1
	IS x2, 0x7fffffffffffffff
	mov w0, #-1			/* the upper half becomes 0 */
	IS x0, 0xffffffff
	movk x0, #0x1234, lsl #48
	IS x0, 0x12340000ffffffff
	extr x0, x0, x0, #48
	IS x0, 0x0000ffffffff1234
	cmp xzr, xzr
	ccmp x0, #0, #4, ne
	EXPECT eq
	csinc x1, x0, xzr, ne
	IS x1, 1
DONE arithmetic
