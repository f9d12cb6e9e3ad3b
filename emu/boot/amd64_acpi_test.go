package boot

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"testing"
)

// acpiTables follows the tables from the RSDP on, as a kernel does, and checks each.
func acpiTables(t *testing.T, ram []byte) map[string][]byte {
	t.Helper()
	order, tables := binary.LittleEndian, map[string][]byte{}
	rsdp := ram[order.Uint64(ram[zeroPageAt+zpRSDP:]):][:36]
	if string(rsdp[:8]) != "RSD PTR " || sum(rsdp[:20]) != 0 || sum(rsdp) != 0 {
		t.Fatalf("RSDP %x", rsdp)
	}
	read := func(at uint64) []byte {
		table := ram[at:][:order.Uint32(ram[at+4:])]
		if name := string(table[:4]); name != "FACS" && sum(table) != 0 {
			t.Errorf("%s has a wrong checksum", name)
		}
		tables[string(table[:4])] = table
		return table
	}
	xsdt := read(order.Uint64(rsdp[24:]))
	for at := acpiHeader; at < len(xsdt); at += 8 {
		read(order.Uint64(xsdt[at:]))
	}
	read(uint64(order.Uint32(tables["FACP"][36:])))
	read(uint64(order.Uint32(tables["FACP"][40:])))
	return tables
}

func TestACPI(t *testing.T) {
	for _, cpus := range []int{2, 8} {
		ram := newRAM(t, testRAM)
		writeACPI(ram, cpus, false)
		binary.LittleEndian.PutUint64(ram[zeroPageAt+zpRSDP:], acpiAt)
		tables := acpiTables(t, ram)
		if n := len(tables["FACP"]); n != 244 {
			t.Errorf("FADT of %d bytes", n)
		}
		if n := len(tables["FACS"]); n != 64 {
			t.Errorf("FACS of %d bytes", n)
		}
		if !bytes.HasSuffix(tables["DSDT"], powerOffState) {
			t.Errorf("DSDT %x", tables["DSDT"])
		}
		for i := range cpus {
			entry := tables["APIC"][acpiHeader+8+8*i:][:8]
			if want := []byte{0, 8, byte(i), byte(i), 1, 0, 0, 0}; !bytes.Equal(entry, want) {
				t.Errorf("CPU %d of %d: %x", i, cpus, entry)
			}
		}
		if n := len(tables["APIC"]); n != acpiHeader+8+8*cpus+6 {
			t.Errorf("MADT of %d bytes for %d CPUs", n, cpus)
		}
	}
}

// One CPU needs no table.
func TestNoACPI(t *testing.T) {
	for cpus, want := range map[int]uint64{0: 0, 1: 0, 2: acpiAt} {
		c := Config{Kernel: bytes.NewReader(newELF().bytes()), RAM: newRAM(t, testRAM), CPUs: cpus}
		place(t, c)
		if got := binary.LittleEndian.Uint64(c.RAM[zeroPageAt+zpRSDP:]); got != want {
			t.Errorf("%d CPUs: RSDP at %#x, want %#x", cpus, got, want)
		}
		if got := c.RAM[acpiAt] != 0; got != (want != 0) {
			t.Errorf("%d CPUs: a table: %v", cpus, got)
		}
	}
}

// With an I/O APIC the tables have it and the devices behind it.
func TestACPIIOAPIC(t *testing.T) {
	ram := newRAM(t, testRAM)
	writeACPI(ram, 1, true)
	binary.LittleEndian.PutUint64(ram[zeroPageAt+zpRSDP:], acpiAt)
	tables := acpiTables(t, ram)
	madt := tables["APIC"][acpiHeader+8:]
	want := [][]byte{
		{0, 8, 0, 0, 1, 0, 0, 0},
		{1, 12, 1, 0, 0, 0, 0xc0, 0xfe, 0, 0, 0, 0},
		{2, 10, 0, 0, 2, 0, 0, 0, 0, 0},
		{4, 6, 0xff, 0, 0, 1},
	}
	if have, want := madt, bytes.Join(want, nil); !bytes.Equal(have, want) {
		t.Errorf("MADT %x, want %x", have, want)
	}
	if dsdt := tables["DSDT"][acpiHeader:]; !bytes.Equal(dsdt, append(bytes.Clone(powerOffState), amlDevices...)) {
		t.Errorf("DSDT %x", dsdt)
	}
}

// amlCompiled is what a compiler makes of the same devices (iasl 20200925):
//
//	Scope (\_SB)
//	{
//	    Device (TIMR) { Name (_HID, EisaId ("PNP0100")) Name (_CRS, ResourceTemplate () { IO (Decode16, 0x40, 0x40, 1, 4) IRQNoFlags () {0} }) }
//	    Device (RTC0) { Name (_HID, EisaId ("PNP0B00")) Name (_CRS, ResourceTemplate () { IO (Decode16, 0x70, 0x70, 1, 2) IRQNoFlags () {8} }) }
//	    Device (COM1) { Name (_HID, EisaId ("PNP0501")) Name (_UID, 1) Name (_CRS, ResourceTemplate () { IO (Decode16, 0x3f8, 0x3f8, 1, 8) IRQNoFlags () {4} }) }
//	    Device (COM2) { Name (_HID, EisaId ("PNP0501")) Name (_UID, 2) Name (_CRS, ResourceTemplate () { IO (Decode16, 0x2f8, 0x2f8, 1, 8) IRQNoFlags () {3} }) }
//	}
const amlCompiled = "104f0a5f53425f" +
	"5b822554494d52085f4849440c41d00100085f43525311100a0d47014000400001042201007900" +
	"5b822552544330085f4849440c41d00b00085f43525311100a0d47017000700001022200017900" +
	"5b822b434f4d31085f4849440c41d00501085f55494401085f43525311100a0d4701f803f80301082210007900" +
	"5b822c434f4d32085f4849440c41d00501085f5549440a02085f43525311100a0d4701f802f80201082208007900"

func TestAMLDevices(t *testing.T) {
	want, err := hex.DecodeString(amlCompiled)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(amlDevices, want) {
		t.Errorf("%x, want %x", amlDevices, want)
	}
}
