package boot

import (
	"bytes"
	"encoding/binary"
)

// The ACPI tables of a machine with several CPUs (ACPI Specification 6.5, chapter 5), in what the
// memory map reserves for a BIOS, where kernels look for them:
//
//	RSDP --> XSDT --> FADT --> FACS, DSDT
//	              '-> MADT: the CPUs
//
// They tell no more than that where there is no I/O APIC: interrupts of the 8259 pair are passed on by
// the local APIC of CPU 0. Otherwise the MADT has the I/O APIC, and the DSDT the devices whose
// interrupts go there.
const (
	acpiAt = 0xe0000
	facsAt = acpiAt + 0x40
	dsdtAt = acpiAt + 0x80
	fadtAt = acpiAt + 0x100
	xsdtAt = acpiAt + 0x200
	madtAt = acpiAt + 0x280

	longDSDTAt = acpiAt + 0x400

	lapicAt  = 0xfee00000
	ioapicAt = 0xfec00000

	acpiPorts     = 0x600 // power management: two registers of events, and control
	acpiInterrupt = 9
)

const acpiHeader = 36 // bytes

// acpiTable is a table with a signature and what it says behind its header.
func acpiTable(signature string, revision byte, content []byte) []byte {
	order := binary.LittleEndian
	t := []byte(signature)
	t = order.AppendUint32(t, uint32(acpiHeader+len(content)))
	t = append(t, revision, 0)
	t = append(t, "TRAPLNTRAPLINE"...)
	t = order.AppendUint32(t, 1)
	t = append(t, "TRAP"...)
	t = order.AppendUint32(t, 1)
	t = append(t, content...)
	t[9] = -sum(t)
	return t
}

// writeACPI puts the tables in RAM.
func writeACPI(ram []byte, cpus int, ioapic bool) {
	dsdt, namespace := uint32(dsdtAt), powerOffState
	if ioapic {
		dsdt, namespace = longDSDTAt, append(bytes.Clone(powerOffState), amlDevices...)
	}
	order := binary.LittleEndian
	rsdp := []byte("RSD PTR \x00TRAPLN\x02\x00\x00\x00\x00")
	rsdp = order.AppendUint32(rsdp, 36)
	rsdp = order.AppendUint64(rsdp, xsdtAt)
	rsdp = append(rsdp, 0, 0, 0, 0)
	rsdp[8] = -sum(rsdp[:20])
	rsdp[32] = -sum(rsdp)

	facs := append([]byte("FACS"), make([]byte, 60)...)
	order.PutUint32(facs[4:], 64)
	xsdt := order.AppendUint64(order.AppendUint64(nil, fadtAt), madtAt)

	copy(ram[acpiAt:], rsdp)
	copy(ram[facsAt:], facs)
	copy(ram[dsdt:], acpiTable("DSDT", 2, namespace))
	copy(ram[fadtAt:], acpiTable("FACP", 3, fadt(dsdt)))
	copy(ram[xsdtAt:], acpiTable("XSDT", 1, xsdt))
	copy(ram[madtAt:], acpiTable("APIC", 3, madt(cpus, ioapic)))
}

// powerOffState is Name (\_S5, Package () {0, 0}): what is written to switch the machine off
// (7.4.2.6, and 20.2 for the encoding).
var powerOffState = []byte{0x08, '_', 'S', '5', '_', 0x12, 0x04, 0x02, 0x00, 0x00}

// fadt is the fixed description of the hardware (5.2.9), of revision 3.
func fadt(dsdt uint32) []byte {
	const (
		end                                   = 244
		legacyDevices, noVGA, noMSI           = 1 << 0, 1 << 2, 1 << 3
		wbinvd, noPower, noSleep, noRTCStatus = 1 << 0, 1 << 4, 1 << 5, 1 << 6
	)
	order := binary.LittleEndian
	t := make([]byte, end) // from the start of the table on
	order.PutUint32(t[36:], facsAt)
	order.PutUint32(t[40:], dsdt)
	order.PutUint16(t[46:], acpiInterrupt)
	order.PutUint32(t[56:], acpiPorts)
	order.PutUint32(t[64:], acpiPorts+4)
	t[88], t[89] = 4, 2             // bytes of these registers
	order.PutUint16(t[96:], 0xffff) // no state of a CPU deeper than halted
	order.PutUint16(t[98:], 0xffff)
	order.PutUint16(t[109:], legacyDevices|noVGA|noMSI)
	order.PutUint32(t[112:], wbinvd|noPower|noSleep|noRTCStatus)
	return t[acpiHeader:]
}

// madt describes the interrupt controllers (5.2.12): an 8259 pair, a local APIC for each CPU, what is
// on their pins for non-maskable interrupts, and an I/O APIC, to whose pin 2 the timer is wired.
func madt(cpus int, ioapic bool) []byte {
	const lapic, ioapicEntry, override, lapicNMI, enabled, everyone, pcat = 0, 1, 2, 4, 1, 0xff, 1
	t := binary.LittleEndian.AppendUint32(nil, lapicAt)
	t = binary.LittleEndian.AppendUint32(t, pcat)
	for i := range cpus {
		t = append(t, lapic, 8, byte(i), byte(i), enabled, 0, 0, 0)
	}
	if ioapic {
		t = append(t, ioapicEntry, 12, byte(cpus), 0)
		t = binary.LittleEndian.AppendUint32(t, ioapicAt)
		t = append(t, 0, 0, 0, 0) // its first interrupt
		t = append(t, override, 10, 0, 0, 2, 0, 0, 0, 0, 0)
	}
	return append(t, lapicNMI, 6, everyone, 0, 0, 1)
}

// sum is what the bytes add up to; with the right checksum among them it is 0.
func sum(p []byte) (s byte) {
	for _, b := range p {
		s += b
	}
	return s
}
