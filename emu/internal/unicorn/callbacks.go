package unicorn

/*
#include "shim.h"
*/
import "C"

//export tlGoAttend
func tlGoAttend(id C.int) { engines[id].handler.Attend() }

//export tlGoIdle
func tlGoIdle(id C.int) C.int {
	e := engines[id]
	switch {
	case e.handler.Idle():
		return C.TL_RUNNING
	case e.Stopping():
		return C.TL_STOPPED
	}
	return C.TL_HUNG
}

//export tlGoAck
func tlGoAck(id C.int) C.int { return C.int(engines[id].handler.Ack()) }

//export tlGoHit
func tlGoHit(id C.int, addr C.uint64_t) { engines[id].handler.Hit(uint64(addr)) }

//export tlGoRewrite
func tlGoRewrite(id C.int, page C.uint64_t) { engines[id].handler.Rewrite(uint64(page)) }

//export tlGoIn
func tlGoIn(id C.int, port C.uint32_t, size C.int) C.uint32_t {
	return C.uint32_t(engines[id].handler.In(uint16(port), int(size)))
}

//export tlGoOut
func tlGoOut(id C.int, port C.uint32_t, size C.int, value C.uint32_t) {
	engines[id].handler.Out(uint16(port), int(size), uint32(value))
}
