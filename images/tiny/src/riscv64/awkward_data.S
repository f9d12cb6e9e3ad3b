/* awkward_data.S: memory, short forms, atomic instructions. */
#include "awkward.h"

	.text
WORD near_a, 0x8877665544332211
AWKWARD near_memory
	.option push
	.option norvc
1:	auipc t0, %pcrel_hi(near_a)
	ld t1, %pcrel_lo(1b)(t0)
	IS t1, 0x8877665544332211
	lw t1, %pcrel_lo(1b)(t0)
	IS t1, 0x44332211
	lbu t1, %pcrel_lo(1b)(t0)
	IS t1, 0x11
	.option pop
	lla t0, near_a
	lb t1, 7(t0)
	IS t1, -0x78
	lbu t1, 7(t0)
	IS t1, 0x88
	lh t1, 6(t0)
	IS t1, -0x7789
	lhu t1, 6(t0)
	IS t1, 0x8877
	lw t1, 4(t0)
	IS t1, -0x778899ab
	lwu t1, 4(t0)
	IS t1, 0x88776655
DONE near_memory

/* An address that is no multiple of the size, within a line and over its end. */
WORD far_a, 0
WORD far_b, 0
AWKWARD misaligned
	lla a0, far_a
	li a1, 0x1122334455667788
	sd zero, (a0)
	sd zero, 8(a0)
	sd a1, 3(a0)
	ld a2, 3(a0)
	EQUAL a1, a2
	lw a2, 5(a0)
	IS a2, 0x33445566
	lhu a2, 9(a0)
	IS a2, 0x1122
	sw a1, 1(a0)
	ld a2, (a0)
	IS a2, 0x4455665566778800
DONE misaligned

AWKWARD short_forms
	c.li a0, -32
	IS a0, -32
	c.lui a0, 31
	IS a0, 0x1f000
	c.lui a0, 0xfffe0
	IS a0, -0x20000
	c.addi a0, 31
	IS a0, -0x1ffe1
	c.addiw a0, 0
	IS a0, -0x1ffe1
	c.mv a1, a0
	c.add a1, a0
	IS a1, -0x3ffc2
	c.sub a1, a0
	EQUAL a1, a0
	c.li a2, 7
	c.and a1, a2
	IS a1, 7
	c.or a1, a0
	EQUAL a1, a0
	c.xor a1, a0
	IS a1, 0
	c.addw a1, a2
	c.subw a1, a0
	IS a1, 0x1ffe8
	c.slli a1, 40
	IS a1, 0x1ffe80000000000
	c.srli a1, 40
	IS a1, 0x1ffe8
	c.srai a0, 4
	IS a0, -0x1fff
	c.andi a0, 15
	IS a0, 1
	c.nop
	nop
DONE short_forms

AWKWARD short_memory
	mv s2, sp
	c.addi16sp sp, -64
	c.addi4spn a0, sp, 16
	addi a1, sp, 16
	EQUAL a0, a1
	li a1, 0x1234567890abcdef
	c.sd a1, 8(a0)
	c.ld a2, 8(a0)
	EQUAL a1, a2
	c.sw a1, 4(a0)
	c.lw a2, 4(a0)
	IS a2, -0x6f543211
	c.ldsp a2, 24(sp)
	EQUAL a1, a2
	c.sdsp a2, 0(sp)
	c.lwsp a2, 4(sp)
	IS a2, 0x12345678
	c.swsp zero, 4(sp)
	c.ldsp a2, 0(sp)
	IS a2, 0x90abcdef
	c.addi16sp sp, 64
	EQUAL sp, s2
DONE short_memory

WORD shared_a, 7
/* Nothing may stand between the two: a tracer must not come in. */
AWKWARD reserved
	lla a0, shared_a
	li a1, 7
	sd a1, (a0)
	li a2, 100
1:	lr.d a1, (a0)
	addi a1, a1, 3
	sc.d a3, a1, (a0)
	bnez a3, 1b
	addi a2, a2, -1
	bnez a2, 1b
	ld a1, (a0)
	IS a1, 307
2:	lr.w.aqrl a1, (a0)
	bne a1, a2, 3f		/* out of the middle */
	sc.w a3, a1, (a0)
	bnez a3, 2b
3:	IS a1, 307
	li a3, 5
4:	lr.w.aq a1, (a0)
	sc.w.rl a3, zero, (a0)
	bnez a3, 4b
	ld a1, (a0)
	IS a1, 0
DONE reserved

AWKWARD atomics
	lla a0, shared_a
	li a1, 12
	sd a1, (a0)
	li a1, 5
	amoadd.d a2, a1, (a0)
	IS a2, 12
	amoswap.w.aqrl a2, a1, (a0)
	IS a2, 17
	li a1, 6
	amoxor.d a2, a1, (a0)
	IS a2, 5
	amoand.w a2, a1, (a0)
	IS a2, 3
	amoor.d.aq a2, a1, (a0)
	IS a2, 2
	li a1, -1
	amomin.d a2, a1, (a0)
	IS a2, 6
	amomaxu.d a2, zero, (a0)
	IS a2, -1
	amomax.w a2, zero, (a0)
	IS a2, -1
	amominu.w.rl a0, zero, (a0)	/* the base is lost */
	IS a0, 0
DONE atomics

AWKWARD arithmetic
	li a0, 7
	div a1, a0, zero
	IS a1, -1
	rem a1, a0, zero
	IS a1, 7
	li a0, -1
	slli a0, a0, 63
	li a1, -1
	div a2, a0, a1
	EQUAL a2, a0
	mulhu a2, a0, a1
	li a3, 0x7fffffffffffffff
	EQUAL a2, a3
	mulw a2, a1, a1
	IS a2, 1
	lui a0, 0x80000
	sraiw a1, a0, 31
	IS a1, -1
	sltiu a1, zero, 1
	IS a1, 1
	addi zero, zero, 5		/* a hint: nothing */
	IS zero, 0
DONE arithmetic
