package vm

import "trapline/probes/d/code"

// builtin is the value of a built-in variable: first those of the thread, which may not be
// readable, then those of the probe and the CPU.
func (f *frame) builtin(b code.Builtin) (v uint64, ok bool) {
	switch b {
	case code.PID, code.TID, code.PPID, code.UID, code.GID, code.Errno, code.Curthread, code.Execname:
		t, ok := f.current()
		if !ok {
			return 0, false
		}
		return f.ofThread(t, b)
	case code.Execargs:
		s, bad, ok := f.env.Execargs()
		if !ok {
			return 0, f.fail(BadAddr, bad)
		}
		return f.keepString(s)
	case code.Probeprov, code.Probemod, code.Probefunc, code.Probename:
		return f.keepString(f.ofProbe(b))
	}
	return f.ofFiring(b), true
}

func (f *frame) ofThread(t *Thread, b code.Builtin) (v uint64, ok bool) {
	switch b {
	case code.PID:
		v = uint64(t.PID)
	case code.TID:
		v = uint64(t.TID)
	case code.PPID:
		v = uint64(t.PPID)
	case code.UID:
		v = uint64(t.UID)
	case code.GID:
		v = uint64(t.GID)
	case code.Errno:
		v = uint64(t.Errno)
	case code.Curthread:
		v = t.Addr
	case code.Execname:
		return f.keepString(t.Execname)
	}
	return v, true
}

func (f *frame) ofProbe(b code.Builtin) string {
	p := f.env.Probe()
	switch b {
	case code.Probeprov:
		return p.Prov
	case code.Probemod:
		return p.Module
	case code.Probefunc:
		return p.Func
	}
	return p.Name
}

func (f *frame) ofFiring(b code.Builtin) uint64 {
	switch b {
	case code.Caller:
		return f.env.Caller()
	case code.CPU:
		return uint64(f.env.CPU())
	case code.EPID:
		return uint64(f.fault.EPID)
	case code.ID:
		return uint64(f.env.Probe().ID)
	case code.Stackdepth:
		return uint64(len(f.frames(maxFrames)))
	case code.Timestamp:
		return f.env.Now()
	case code.VTimestamp:
		return f.env.VNow()
	case code.WallTimestamp:
		return uint64(f.env.Wall())
	case code.UCaller:
		if pcs := f.userFrames(2); len(pcs) == 2 {
			return pcs[1]
		}
	case code.UStackdepth:
		return uint64(len(f.userFrames(maxFrames)))
	case code.IPL, code.JID:
	}
	return 0
}
