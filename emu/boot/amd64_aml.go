package boot

import "encoding/binary"

// What an ACPI namespace says in its own language (ACPI Specification 6.5, chapter 20): only as much
// as it takes to list devices with their ports and interrupts.

// amlDevices are the devices of the machine that a kernel with an I/O APIC looks for there.
var amlDevices = amlScope("_SB_",
	amlDevice("TIMR", "0100", -1, 0x40, 4, 0),
	amlDevice("RTC0", "0B00", -1, 0x70, 2, 8),
	amlDevice("COM1", "0501", 1, 0x3f8, 8, 4),
	amlDevice("COM2", "0501", 2, 0x2f8, 8, 3),
)

// Opcodes (20.3).
const (
	amlName     = 0x08
	amlByte     = 0x0a
	amlDWord    = 0x0c
	amlScopeOp  = 0x10
	amlBuffer   = 0x11
	amlExtended = 0x5b
	amlDeviceOp = 0x82
)

// amlDevice is a device PNPxxxx with an ID among its like, if that is not negative, and its resources
// (6.4.2): ports and an interrupt.
func amlDevice(name, pnp string, unit int, port, ports uint16, irq int) []byte {
	body := []byte(name)
	body = append(body, amlNamed("_HID", append([]byte{amlDWord}, eisaID(pnp)...))...)
	if unit >= 0 {
		body = append(body, amlNamed("_UID", amlInteger(byte(unit)))...)
	}
	const io, decode16, irqNoFlags, endTag = 0x47, 1, 0x22, 0x79
	resources := []byte{io, decode16}
	resources = binary.LittleEndian.AppendUint16(resources, port)
	resources = binary.LittleEndian.AppendUint16(resources, port)
	resources = append(resources, 1, byte(ports), irqNoFlags)
	resources = binary.LittleEndian.AppendUint16(resources, 1<<irq)
	resources = append(resources, endTag, 0)
	buffer := append([]byte{amlByte, byte(len(resources))}, resources...)
	body = append(body, amlNamed("_CRS", append([]byte{amlBuffer}, amlSized(buffer)...))...)
	return append([]byte{amlExtended, amlDeviceOp}, amlSized(body)...)
}

// amlInteger is a number: 0 and 1 are opcodes.
func amlInteger(n byte) []byte {
	if n <= 1 {
		return []byte{n}
	}
	return []byte{amlByte, n}
}

func amlNamed(name string, value []byte) []byte {
	return append(append([]byte{amlName}, name...), value...)
}

func amlScope(name string, parts ...[]byte) []byte {
	body := []byte(name)
	for _, p := range parts {
		body = append(body, p...)
	}
	return append([]byte{amlScopeOp}, amlSized(body)...)
}

// amlSized puts the length of a package before it (20.2.4): in one byte up to 63, otherwise in two,
// which is the most here. It counts itself.
func amlSized(body []byte) []byte {
	if n := len(body) + 1; n < 64 {
		return append([]byte{byte(n)}, body...)
	}
	n := len(body) + 2
	return append([]byte{0x40 | byte(n&15), byte(n >> 4)}, body...)
}

// eisaID is "PNP" and four hex digits as a number of 32 bits (6.1.5): five bits for each letter.
func eisaID(digits string) []byte {
	nibble := func(c byte) byte {
		if c >= 'A' {
			return c - 'A' + 10
		}
		return c - '0'
	}
	const pnp = ('P'-'@')<<10 | ('N'-'@')<<5 | ('P' - '@')
	return []byte{pnp >> 8, pnp & 0xff, nibble(digits[0])<<4 | nibble(digits[1]), nibble(digits[2])<<4 | nibble(digits[3])}
}
