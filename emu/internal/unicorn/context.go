package unicorn

// #include "library.h"
import "C"

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// clockSize is the bytes in front of a CPU's own state: savedClock.
const clockSize = 16

// MaxClock is later than the clock of any guest that is to be saved, in ns: 73 years.
const MaxClock = 1 << 61

// SaveCPU is the state of the CPU and of the clock. It fails where the guest has brought the CPU into
// a state that could not be loaded. Only between runs.
func (e *Engine) SaveCPU() ([]byte, error) {
	b := make([]byte, clockSize+uint64(C.tl_state_size(e.c)))
	room := make([]C.uint8_t, 2*C.tl_env_size(e.c))
	ns, end := e.savedClock()
	binary.LittleEndian.PutUint64(b, ns)
	binary.LittleEndian.PutUint64(b[8:], end)
	if at := C.tl_state_save(e.c, (*C.uint8_t)(&b[clockSize]), &room[0], &room[len(room)/2]); at >= 0 {
		return nil, fmt.Errorf("saving the CPU: a snapshot has no place for what it has at %d", int(at))
	}
	return b, nil
}

// A State is that of a CPU, found to be one that it can have.
type State struct {
	clock, end uint64
	env        []C.uint8_t
}

// Clock is the time that the CPU had, in ns.
func (s *State) Clock() uint64 { return s.clock }

// ParseCPU reads a state that SaveCPU has returned, of such a CPU, in this or in another process
// with the same library. Anyone may have written it: what a guest cannot have brought about is an
// error. The CPU stays as it is.
func (e *Engine) ParseCPU(b []byte) (*State, error) {
	if want := clockSize + int(C.tl_state_size(e.c)); len(b) != want {
		return nil, fmt.Errorf("loading the CPU: %d bytes of state, it has %d", len(b), want)
	}
	s := &State{
		clock: binary.LittleEndian.Uint64(b), end: binary.LittleEndian.Uint64(b[8:]),
		env: make([]C.uint8_t, C.tl_env_size(e.c)),
	}
	if s.clock > MaxClock || s.end == C.TL_NEVER {
		return nil, fmt.Errorf("loading the CPU: its clock is at %d", s.clock)
	}
	if why := C.tl_state_check(e.c, (*C.uint8_t)(&b[clockSize]), &s.env[0]); why != nil {
		return nil, fmt.Errorf("loading the CPU: %s", C.GoString(why))
	}
	return s, nil
}

// SetCPU puts the CPU into a state that ParseCPU has returned for it. Only between runs.
func (e *Engine) SetCPU(s *State) {
	C.tl_state_set(e.c, &s.env[0])
	e.setClock(s.clock, s.end)
	e.Flush()
}

// TakeRAM makes memory, a private mapping of the size of guest memory, the guest's: what the guest
// stores stays in it. It is no longer the caller's then. Only before a run.
func (e *Engine) TakeRAM(memory []byte) error {
	if len(memory) != len(e.ram) {
		return fmt.Errorf("mapping guest memory: %d bytes, there are %d", len(memory), len(e.ram))
	}
	n := uintptr(len(memory))
	_, err := unix.MremapPtr(unsafe.Pointer(&memory[0]), n, unsafe.Pointer(&e.ram[0]), n, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED)
	if err != nil {
		return fmt.Errorf("mapping guest memory: %w", err)
	}
	return nil
}

// saved is where SaveCPU has the byte of the library's state at an offset, for tests.
func (e *Engine) saved(offset int) int {
	return clockSize + int(C.tl_state_place(e.c, C.uint(offset)))
}

// poke changes a byte of the library's state, for tests.
func (e *Engine) poke(offset int, by byte) { *(*byte)(unsafe.Add(e.c.env, offset)) ^= by }
