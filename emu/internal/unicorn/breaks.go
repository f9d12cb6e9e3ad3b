package unicorn

/*
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"trapline/kernel/arch"
)

// Break is a breakpoint, and At the offset in RAM where it is planted.
type Break struct {
	arch.Break
	At uint64
}

// SetSlots says where in the guest's kernel address space trampolines lie. It returns
// the size of the range in bytes.
func (e *Engine) SetSlots(base uint64) (size uint64) {
	C.tl_place_slots(e.c.m, C.uint64_t(base))
	return uint64(e.c.m.slots.size)
}

// SetInPlace makes breakpoints go into the guest's own pages, where the guest can see
// them. Only before the first SetBreak.
func (e *Engine) SetInPlace(on bool) { e.c.m.breaks.inplace = C.bool(on) }

// SetHooked makes breakpoints fire by the library's own code hook: nothing is planted, and
// trampolines are not used. Only before the first SetBreak.
func (e *Engine) SetHooked(on bool) { C.tl_fire_by_hook(&e.c.m.hooks, C.bool(on)) }

// ShareSlots makes trampolines code that the guest sees, and that several breakpoints use. Only
// before the first SetBreak.
func (e *Engine) ShareSlots() { C.tl_share_slots(e.c.m) }

// UseSlot is called by Hit: the instruction of the breakpoint at addr runs in slot.
func (e *Engine) UseSlot(addr, slot uint64) { C.tl_use_slot(e.c.m, C.uint64_t(addr), C.uint64_t(slot)) }

// WriteSlots stores trampolines at a virtual address in the range of SetSlots.
func (e *Engine) WriteSlots(addr uint64, code []byte) error {
	m := e.c.m
	at := addr - uint64(m.slots.base)
	if size := uint64(m.slots.size); at >= size || uint64(len(code)) > size-at {
		return fmt.Errorf("writing trampoline at 0x%x: outside the range set aside", addr)
	}
	if len(code) > 0 {
		C.tl_write_slots(m, C.uint64_t(addr), (*C.uint8_t)(unsafe.Pointer(&code[0])), C.uint64_t(len(code)))
	}
	return nil
}

// SetBreak plants or replaces a breakpoint. The guest sees it after Commit, or after the
// Rewrite callback from which it was set.
func (e *Engine) SetBreak(b Break) error {
	like := &e.like
	*like = C.struct_tl_break{
		addr: C.uint64_t(b.Addr), slot: C.uint64_t(b.Slot), len: C.uint8_t(b.Len),
		op: C.uint8_t(b.Do.Op), a: C.uint8_t(b.Do.A), b: C.uint8_t(b.Do.B), c: C.uint8_t(b.Do.C), imm: C.int64_t(b.Do.Imm),
	}
	if b.Guest {
		like.guest = 1
	}
	if why := C.tl_set_break(e.c, C.uint64_t(b.At), like); why != nil {
		return fmt.Errorf("planting breakpoint at 0x%x: %s", b.Addr, C.GoString(why))
	}
	return nil
}

// Watch calls Rewrite when the guest stores to the page at va, which lies at an offset in RAM.
func (e *Engine) Watch(va, at uint64) error {
	if why := C.tl_watch(e.c, C.uint64_t(va), C.uint64_t(at)); why != nil {
		return fmt.Errorf("watching the page at 0x%x: %s", va, C.GoString(why))
	}
	return nil
}

// ClearBreak takes a breakpoint away, in the same manner.
func (e *Engine) ClearBreak(addr uint64) { C.tl_clear_break(e.c, C.uint64_t(addr)) }

// ForgetPages drops all state for the virtual addresses [lo, hi), which are about to be unmapped. No
// breakpoints may remain there.
func (e *Engine) ForgetPages(lo, hi uint64) {
	C.tl_forget_pages(e.c, C.uint64_t(lo), C.uint64_t(hi))
}

// CountHits counts the hits of the breakpoint at addr from now on, without a call of Hit. It
// reports false where there is none.
func (e *Engine) CountHits(addr uint64) bool { return bool(C.tl_count_hits(e.c, C.uint64_t(addr))) }

// TakeHits ends that and returns how many there were.
func (e *Engine) TakeHits(addr uint64) uint64 { return uint64(C.tl_take_hits(e.c, C.uint64_t(addr))) }

// Commit brings the pages that SetBreak and ClearBreak changed up to date.
func (e *Engine) Commit() { C.tl_commit_breaks(e.c) }

// Aliases are the pages on which the guest has passed breakpoints by, in the order in which they
// came to have them.
func (e *Engine) Aliases() (all []arch.Alias) {
	b := &e.c.m.breaks
	for _, p := range unsafe.Slice(b.pages, b.npages) {
		if p.passed != 0 {
			all = append(all, arch.Alias{Page: uint64(p.va), At: uint64(p.alias), Passed: uint64(p.passed)})
		}
	}
	return all
}

// Original is the guest's own content of the page at offset pa of RAM while breakpoints stand
// in it (SetInPlace), otherwise nil.
func (e *Engine) Original(pa uint64) []byte {
	p := C.tl_page_at(e.c.m, C.uint64_t(pa))
	if p == nil || p.original == nil || bool(p.stale) {
		return nil
	}
	return unsafe.Slice((*byte)(p.original), C.TL_PAGE)
}

// CrossCheck counts from now on, by the library's own code hook, how often each address
// with a breakpoint in [lo, hi] is executed.
func (e *Engine) CrossCheck(lo, hi uint64) error {
	if err := C.tl_crosscheck(e.c, C.uint64_t(lo), C.uint64_t(hi)); err != 0 {
		return fmt.Errorf("adding a code hook: error %d", int(err))
	}
	return nil
}

// Executed is what the code hook has counted at addr, by this CPU.
func (e *Engine) Executed(addr uint64) uint64 { return uint64(C.tl_executed(e.c, C.uint64_t(addr))) }
