package unicorn

// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// ErrStore is returned by Keep for what is not a store.
var ErrStore = errors.New("it is not a store of translations")

// Keep starts reusing and recording translated code, for all engines of the machine. fill fills a store
// of n bytes, and uses none of it if that fails; with n 0 there are no translations yet. The store
// holds host code that is executed unchecked: the caller must have verified that Kept returned it for an
// identical machine, where KeptIdentity was the same. Of the rest a store that leads out of its bounds is
// refused with ErrStore. Where Keep fails, none are kept.
func (e *Engine) Keep(n int64, fill func(store []byte) error) error {
	store := C.tl_keep_open(e.c.m, C.uint64_t(n))
	if store == nil {
		return fmt.Errorf("keeping translations: there is no address space for %d MiB, or a file of %d MiB is more than that", C.TL_STORE_SIZE>>20, n>>20)
	}
	if n == 0 {
		return nil
	}
	err := fill(unsafe.Slice((*byte)(store), n))
	if err == nil && !C.tl_kept_load(e.c, C.uint64_t(n)) {
		err = ErrStore
	}
	if err != nil {
		C.tl_keep_close(e.c.m)
	}
	return err
}

// Kept is the store as it is, and how many blocks there are in it; nil if translations are not
// kept. It is valid until the machine runs.
func (e *Engine) Kept() (store []byte, blocks uint64) {
	m := e.c.m
	if m.kept.store == nil {
		return nil, 0
	}
	return unsafe.Slice((*byte)(C.tl_kept_all(m)), C.tl_kept_bytes(m)), uint64(C.tl_kept_blocks(m))
}

// CheckKept compares translations with what the library makes now instead of using them.
func (e *Engine) CheckKept() { C.tl_check_kept(&e.c.m.kept) }

// KeptDiffering counts those that were not the same; at is the address of the first block of them.
func (e *Engine) KeptDiffering() (n, at uint64) {
	return uint64(e.c.m.kept.differing), uint64(e.c.m.kept.differs_at)
}

// Placed counts the blocks of this CPU that did not have to be translated, for they were kept; with
// CheckKept, that were compared.
func (e *Engine) Placed() uint64 { return uint64(e.c.keep.placed) }

// KeptIdentity says what translations depend on besides the guest: the builds of this program and of the
// library, and the features of the host's CPU. "" if that is not known, or the program is one that
// lies somewhere else each time: then translations cannot be kept.
func KeptIdentity() string {
	var text [C.TL_KEPT_IDENTITY]C.char
	C.tl_kept_identity(&text[0])
	return C.GoString(&text[0])
}
