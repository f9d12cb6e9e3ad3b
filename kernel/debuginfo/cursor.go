package debuginfo

// A cursor reads numbers one after another. Behind the end everything is 0 and bad is set.
type cursor struct {
	data []byte
	off  uint64
	bad  bool
}

// Forms of attributes (DWARF 5, 7.5.6).
const (
	formAddr     = 0x01
	formBlock2   = 0x03
	formBlock4   = 0x04
	formData2    = 0x05
	formData4    = 0x06
	formData8    = 0x07
	formString   = 0x08
	formBlock    = 0x09
	formBlock1   = 0x0a
	formData1    = 0x0b
	formFlag     = 0x0c
	formSdata    = 0x0d
	formStrp     = 0x0e
	formUdata    = 0x0f
	formRefAddr  = 0x10
	formRef1     = 0x11
	formRef2     = 0x12
	formRef4     = 0x13
	formRef8     = 0x14
	formRefUdata = 0x15
	formSecOff   = 0x17
	formExprloc  = 0x18
	formPresent  = 0x19
	formStrx     = 0x1a
	formAddrx    = 0x1b
	formData16   = 0x1e
	formLineStrp = 0x1f
	formRefSig8  = 0x20
	formImplicit = 0x21
	formLoclistx = 0x22
	formRnglistx = 0x23
	formStrx1    = 0x25
	formStrx4    = 0x28
	formAddrx1   = 0x29
	formAddrx4   = 0x2c
)

func (c *cursor) rest() []byte {
	if c.off >= uint64(len(c.data)) {
		return nil
	}
	return c.data[c.off:]
}

func (c *cursor) byte() byte {
	if c.off >= uint64(len(c.data)) {
		c.bad = true
		return 0
	}
	c.off++
	return c.data[c.off-1]
}

func (c *cursor) fixed(n int) (v uint64) {
	if uint64(n) > uint64(len(c.data)) || c.off > uint64(len(c.data)-n) {
		c.bad = true
		return 0
	}
	for i := n - 1; i >= 0; i-- {
		v = v<<8 | uint64(c.data[c.off+uint64(i)])
	}
	c.off += uint64(n)
	return v
}

func (c *cursor) uleb() (v uint64) {
	for shift := 0; ; shift += 7 {
		b := c.byte()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 {
			return v
		}
	}
}

func (c *cursor) sleb() (v int64) {
	for shift := 0; ; {
		b := c.byte()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		shift += 7
		if b < 0x80 {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// sizes of forms that have a fixed one.
var sizes = [0x30]uint8{
	formData1: 1, formData2: 2, formData4: 4, formData8: 8, formData16: 16, formFlag: 1, formStrp: 4, formLineStrp: 4,
	formRef1: 1, formRef2: 2, formRef4: 4, formRef8: 8, formSecOff: 4, formRefAddr: 4, formRefSig8: 8,
	formStrx1: 1, formStrx1 + 1: 2, formStrx1 + 2: 3, formStrx1 + 3: 4,
	0x29: 1, 0x2a: 2, 0x2b: 3, formAddrx4: 4,
}

// number reads the value of an attribute that is a constant. A block is 0.
func (c *cursor) number(u *unit, a *attr) int64 {
	switch a.form {
	case formImplicit:
		return a.value
	case formPresent:
		return 1
	case formSdata:
		return c.sleb()
	case formUdata:
		return int64(c.uleb())
	case formData1, formFlag:
		return int64(c.fixed(1))
	case formData2:
		return int64(c.fixed(2))
	case formData4:
		return int64(int32(c.fixed(4)))
	case formData8:
		return int64(c.fixed(8))
	}
	c.skip(u, a.form)
	return 0
}

// offset reads the place of a member in its structure: a constant, or the expression that adds one to
// the structure's address (DWARF 2, 5.5.4).
func (c *cursor) offset(u *unit, a *attr) int64 {
	switch a.form {
	case formBlock, formExprloc, formBlock1, formBlock2, formBlock4:
		in := cursor{data: c.attribute(u, a).block}
		if in.fixed(1) == opPlusUconst {
			return int64(in.uleb())
		}
		return 0
	}
	return c.number(u, a)
}

// reference reads where another entry begins, 0 if it is not in this section.
func (c *cursor) reference(u *unit, form uint64) uint64 {
	switch form {
	case formRef1, formRef2, formRef4, formRef8:
		return u.start + c.fixed(int(sizes[form]))
	case formRefUdata:
		return u.start + c.uleb()
	case formRefAddr:
		return c.fixed(4)
	}
	c.skip(u, form)
	return 0
}

func (c *cursor) skip(u *unit, form uint64) {
	n := uint64(0)
	switch form {
	case formPresent, formImplicit:
	case formAddr:
		n = uint64(u.addrSize)
	case formBlock1:
		n = c.fixed(1)
	case formBlock2:
		n = c.fixed(2)
	case formBlock4:
		n = c.fixed(4)
	case formBlock, formExprloc:
		n = c.uleb()
	case formSdata, formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx:
		c.uleb()
	case formString:
		c.text()
	default:
		if form >= uint64(len(sizes)) || sizes[form] == 0 {
			c.bad = true
			return
		}
		n = uint64(sizes[form])
	}
	if c.off += n; c.off > uint64(len(c.data)) || n > uint64(len(c.data)) {
		c.bad = true
	}
}
