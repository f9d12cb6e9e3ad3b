package sdt

// A kernel may come to some of its places only while a variable of its own says that there is a tracer.
// Probes there would never fire, so the variable is set while a probe of the provider is on. This is
// what the kernel's own tracer does, and all that tracing does to a guest.

// flip sets the switches of a provider, or takes that back.
func (t *Tracepoints) flip(provider string, on bool) {
	if t.Switches == nil {
		return
	}
	if t.on == nil {
		t.on = map[string]int{}
	}
	for _, name := range t.Switches(provider) {
		was := t.on[name] > 0
		if t.on[name]--; on {
			t.on[name] += 2
		}
		if is := t.on[name] > 0; is != was {
			t.set(name, is)
		}
	}
}

// set sets a switch. While the kernel's memory is not there yet, it is set at the first firing.
func (t *Tracepoints) set(name string, on bool) {
	var value byte
	if on {
		value = 1
	}
	for _, s := range t.kernel.Symbols.Lookup(name) {
		if t.Write(s.Addr, []byte{value}) != nil && on {
			t.late = append(t.late, name)
		}
	}
}

// catchUp sets the switches that could not be set before.
func (t *Tracepoints) catchUp() {
	late := t.late
	t.late = nil
	for _, name := range late {
		t.set(name, t.on[name] > 0)
	}
}
