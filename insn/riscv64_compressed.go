package insn

// expand gives the instruction of 32 bits that a compressed one stands for, 0 if it is not
// known (Unprivileged ISA, 27.8). Jumps and branches are not. The first octal digit of a case is
// the quadrant, the second funct3.
func expand(c uint16) uint32 {
	x := uint32(c)
	rd, rs2 := x>>7&31, x>>2&31
	rdShort, rs2Short := x>>7&7+8, x>>2&7+8
	imm6 := uint32(signed(uint64(x>>12&1<<5|x>>2&31), 6))
	switch x&3<<3 | x>>13 {
	case 0o00: // c.addi4spn
		if n := x>>7&0xf<<6 | x>>11&3<<4 | x>>5&1<<3 | x>>6&1<<2; n != 0 {
			return itype(0x13, 0, rs2Short, 2, n)
		}
	case 0o02: // c.lw
		return itype(0x03, 2, rs2Short, rdShort, wordOffset(x))
	case 0o03: // c.ld
		return itype(0x03, 3, rs2Short, rdShort, doubleOffset(x))
	case 0o06: // c.sw
		return stype(2, rdShort, rs2Short, wordOffset(x))
	case 0o07: // c.sd
		return stype(3, rdShort, rs2Short, doubleOffset(x))
	case 0o10: // c.addi, c.nop
		return itype(0x13, 0, rd, rd, imm6)
	case 0o11: // c.addiw
		return itype(0x1b, 0, rd, rd, imm6)
	case 0o12: // c.li
		return itype(0x13, 0, rd, 0, imm6)
	case 0o13: // c.addi16sp, c.lui
		if rd == 2 {
			n := uint32(signed(uint64(x>>12&1<<9|x>>3&3<<7|x>>5&1<<6|x>>2&1<<5|x>>6&1<<4), 10))
			return itype(0x13, 0, 2, 2, n)
		}
		return imm6<<12 | rd<<7 | 0x37
	case 0o14:
		return expandCompute(x, rdShort, rs2Short, imm6)
	case 0o20: // c.slli
		return itype(0x13, 1, rd, rd, imm6&63)
	case 0o22: // c.lwsp
		return itype(0x03, 2, rd, 2, x>>2&3<<6|x>>12&1<<5|x>>4&7<<2)
	case 0o23: // c.ldsp
		return itype(0x03, 3, rd, 2, x>>2&7<<6|x>>12&1<<5|x>>5&3<<3)
	case 0o24:
		return expandMove(x, rd, rs2)
	case 0o26: // c.swsp
		return stype(2, 2, rs2, x>>7&3<<6|x>>9&0xf<<2)
	case 0o27: // c.sdsp
		return stype(3, 2, rs2, x>>7&7<<6|x>>10&7<<3)
	}
	return 0
}

// expandCompute is c.srli, c.srai, c.andi, c.sub, c.xor, c.or, c.and, c.subw, c.addw.
func expandCompute(x, rd, rs2, imm6 uint32) uint32 {
	switch x >> 10 & 3 {
	case 0:
		return itype(0x13, 5, rd, rd, imm6&63)
	case 1:
		return itype(0x13, 5, rd, rd, imm6&63|0x400)
	case 2:
		return itype(0x13, 7, rd, rd, imm6)
	}
	switch x>>12&1<<2 | x>>5&3 {
	case 0:
		return rtype(0x33, 0, 0x20, rd, rd, rs2)
	case 1:
		return rtype(0x33, 4, 0, rd, rd, rs2)
	case 2:
		return rtype(0x33, 6, 0, rd, rd, rs2)
	case 3:
		return rtype(0x33, 7, 0, rd, rd, rs2)
	case 4:
		return rtype(0x3b, 0, 0x20, rd, rd, rs2)
	case 5:
		return rtype(0x3b, 0, 0, rd, rd, rs2)
	}
	return 0
}

// expandMove is c.mv, c.add, c.jalr and c.jr.
func expandMove(x, rd, rs2 uint32) uint32 {
	link := x >> 12 & 1
	switch {
	case rs2 == 0 && rd != 0:
		return itype(0x67, 0, link, rd, 0)
	case rs2 == 0:
		return 0
	case link == 0:
		return rtype(0x33, 0, 0, rd, 0, rs2)
	}
	return rtype(0x33, 0, 0, rd, rd, rs2)
}

func wordOffset(x uint32) uint32   { return x>>5&1<<6 | x>>10&7<<3 | x>>6&1<<2 }
func doubleOffset(x uint32) uint32 { return x>>5&3<<6 | x>>10&7<<3 }

func itype(op, f3, rd, rs1, imm uint32) uint32 { return imm<<20 | rs1<<15 | f3<<12 | rd<<7 | op }

func stype(f3, rs1, rs2, imm uint32) uint32 {
	return imm>>5<<25 | rs2<<20 | rs1<<15 | f3<<12 | imm&31<<7 | 0x23
}

func rtype(op, f3, f7, rd, rs1, rs2 uint32) uint32 {
	return f7<<25 | rs2<<20 | rs1<<15 | f3<<12 | rd<<7 | op
}
