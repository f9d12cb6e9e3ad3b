package unicorn

/*
#include "shim.h"
*/
import "C"

// called is the handler of an engine that is called. All deferred hits have been delivered by then.
func called(id C.int) Handler {
	e := engines[id]
	if e.c.m.deferrals.nwords != 0 {
		e.deliver()
	}
	return e.handler
}

//export tlGoDeadline
func tlGoDeadline(id C.int) { called(id).Deadline() }

//export tlGoIdle
func tlGoIdle(id C.int) C.int { return C.int(called(id).Idle()) }

//export tlGoAck
func tlGoAck(id C.int) C.int { return C.int(called(id).Ack()) }

//export tlGoHit
func tlGoHit(id C.int, addr C.uint64_t) { called(id).Hit(uint64(addr)) }

//export tlGoRewrite
func tlGoRewrite(id C.int, page C.uint64_t) { called(id).Rewrite(uint64(page)) }

//export tlGoCall
func tlGoCall(id C.int) { called(id).Call() }

//export tlGoLoad
func tlGoLoad(id C.int, pa C.uint64_t, size C.int) C.uint64_t {
	return C.uint64_t(called(id).Load(uint64(pa), int(size)))
}

//export tlGoStore
func tlGoStore(id C.int, pa C.uint64_t, size C.int, value C.uint64_t) {
	called(id).Store(uint64(pa), int(size), uint64(value))
}

//export tlGoReadSystem
func tlGoReadSystem(id C.int, reg C.uint32_t) C.uint64_t {
	return C.uint64_t(called(id).ReadSystem(uint32(reg)))
}

//export tlGoWriteSystem
func tlGoWriteSystem(id C.int, reg C.uint32_t, value C.uint64_t) {
	called(id).WriteSystem(uint32(reg), uint64(value))
}

//export tlGoIn
func tlGoIn(id C.int, port C.uint32_t, size C.int) C.uint32_t {
	return C.uint32_t(called(id).In(uint16(port), int(size)))
}

//export tlGoOut
func tlGoOut(id C.int, port C.uint32_t, size C.int, value C.uint32_t) {
	called(id).Out(uint16(port), int(size), uint32(value))
}
