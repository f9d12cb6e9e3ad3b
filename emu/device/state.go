package device

import (
	"encoding/binary"
	"fmt"
	"io"
)

// save writes regs, a pointer to a struct of fixed size, in little-endian order. The
// registers of a device live in such a struct, whose fields are exported for
// encoding/binary alone.
func save(w io.Writer, name string, regs any) error {
	if err := binary.Write(w, binary.LittleEndian, regs); err != nil {
		return fmt.Errorf("saving the %s: %w", name, err)
	}
	return nil
}

// load is the opposite of save.
func load(r io.Reader, name string, regs any) error {
	if err := binary.Read(r, binary.LittleEndian, regs); err != nil {
		return fmt.Errorf("loading the %s: %w", name, err)
	}
	return nil
}
