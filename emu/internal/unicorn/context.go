package unicorn

/*
#include <string.h>
#include "library.h"

// The library's own copy of the CPU state, as bytes. They mean something only to the
// same build of the library.
static int tl_save_cpu(struct tl_cpu *c, void *bytes) {
  uc_context *x;
  int err = uc_context_alloc(c->uc, &x);
  if (err)
    return err;
  if (!(err = uc_context_save(c->uc, x)))
    memcpy(bytes, x, uc_context_size(c->uc));
  uc_context_free(x);
  return err;
}

static int tl_load_cpu(struct tl_cpu *c, const void *bytes) {
  uc_context *x;
  int err = uc_context_alloc(c->uc, &x);
  if (err)
    return err;
  memcpy(x, bytes, uc_context_size(c->uc));
  err = uc_context_restore(c->uc, x);
  uc_context_free(x);
  if (!err && c->m->t->restored)
    c->m->t->restored(c);
  return err;
}
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// clockSize is the bytes in front of the library's state: the clock, and the end of the
// instruction executed last.
const clockSize = 16

// SaveCPU is the state of the CPU and of the clock. Only between runs.
func (e *Engine) SaveCPU() ([]byte, error) {
	b := make([]byte, clockSize+uint64(C.uc_context_size(e.c.uc)))
	binary.LittleEndian.PutUint64(b, uint64(e.c.clock))
	binary.LittleEndian.PutUint64(b[8:], uint64(e.c.end))
	if err := C.tl_save_cpu(e.c, unsafe.Pointer(&b[clockSize])); err != 0 {
		return nil, fmt.Errorf("saving the CPU: error %d of the library", int(err))
	}
	return b, nil
}

// LoadCPU puts the CPU into a state that SaveCPU has returned, in this or in another
// process with the same library.
func (e *Engine) LoadCPU(b []byte) error {
	if want := clockSize + int(C.uc_context_size(e.c.uc)); len(b) != want {
		return fmt.Errorf("loading the CPU: %d bytes of state, the library has %d", len(b), want)
	}
	if err := C.tl_load_cpu(e.c, unsafe.Pointer(&b[clockSize])); err != 0 {
		return fmt.Errorf("loading the CPU: error %d of the library", int(err))
	}
	e.c.clock = C.uint64_t(binary.LittleEndian.Uint64(b))
	e.c.end = C.uint64_t(binary.LittleEndian.Uint64(b[8:]))
	e.Flush()
	return nil
}

// MapRAM replaces guest memory by a private view of a file from offset on, a multiple of
// the page size: what the guest stores does not reach the file. Only before a run.
func (e *Engine) MapRAM(f *os.File, offset int64) error {
	_, err := unix.MmapPtr(int(f.Fd()), offset, unsafe.Pointer(&e.ram[0]), uintptr(len(e.ram)),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED|unix.MAP_NORESERVE)
	if err != nil {
		return fmt.Errorf("mapping guest memory: %w", err)
	}
	return nil
}
