package boot

import (
	"bytes"
	"encoding/binary"
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
		writeACPI(ram, cpus)
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
