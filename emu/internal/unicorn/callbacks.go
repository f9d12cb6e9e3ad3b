package unicorn

/*
#include "shim.h"
*/
import "C"

//export tlGoAttend
func tlGoAttend(id C.int) { engines[id].handler.Attend() }

//export tlGoIdle
func tlGoIdle(id C.int) C.int { return C.int(engines[id].handler.Idle()) }

//export tlGoAck
func tlGoAck(id C.int) C.int { return C.int(engines[id].handler.Ack()) }

//export tlGoHit
func tlGoHit(id C.int, addr C.uint64_t) { engines[id].handler.Hit(uint64(addr)) }

//export tlGoRewrite
func tlGoRewrite(id C.int, page C.uint64_t) { engines[id].handler.Rewrite(uint64(page)) }

//export tlGoCall
func tlGoCall(id C.int) { engines[id].handler.Call() }

//export tlGoLoad
func tlGoLoad(id C.int, pa C.uint64_t, size C.int) C.uint64_t {
	return C.uint64_t(engines[id].handler.Load(uint64(pa), int(size)))
}

//export tlGoStore
func tlGoStore(id C.int, pa C.uint64_t, size C.int, value C.uint64_t) {
	engines[id].handler.Store(uint64(pa), int(size), uint64(value))
}

//export tlGoReadSystem
func tlGoReadSystem(id C.int, reg C.uint32_t) C.uint64_t {
	return C.uint64_t(engines[id].handler.ReadSystem(uint32(reg)))
}

//export tlGoWriteSystem
func tlGoWriteSystem(id C.int, reg C.uint32_t, value C.uint64_t) {
	engines[id].handler.WriteSystem(uint32(reg), uint64(value))
}

//export tlGoIn
func tlGoIn(id C.int, port C.uint32_t, size C.int) C.uint32_t {
	return C.uint32_t(engines[id].handler.In(uint16(port), int(size)))
}

//export tlGoOut
func tlGoOut(id C.int, port C.uint32_t, size C.int, value C.uint32_t) {
	engines[id].handler.Out(uint16(port), int(size), uint32(value))
}
