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

// parse reads what save has written of to, as State.Parse does, if it is sound.
func parse[T any](r io.Reader, name string, to *T, sound func(*T) bool) (set func(), err error) {
	regs := new(T)
	if err := load(r, name, regs); err != nil {
		return nil, err
	}
	if !sound(regs) {
		return nil, unsound(name)
	}
	return func() { *to = *regs }, nil
}

// unsound is the error for a state that a device cannot be in.
func unsound(name string) error {
	return fmt.Errorf("loading the %s: it cannot be in such a state", name)
}

// anything is sound, where every value of the registers is one that a guest can write.
func anything[T any](*T) bool { return true }

func saveAll(w io.Writer, parts []State) error {
	for _, s := range parts {
		if err := s.Save(w); err != nil {
			return err
		}
	}
	return nil
}

// parseAll is State.Parse for several devices, one behind the other. They are set in that order.
func parseAll(r io.Reader, now uint64, parts []State) (set func(), err error) {
	var sets []func()
	for _, s := range parts {
		set, err := s.Parse(r, now)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return func() {
		for _, set := range sets {
			set()
		}
	}, nil
}
