// Package sdt is the header with which kernel code has static probes.
package sdt

import _ "embed"

// HeaderName is what the header is included as, Header its text.
const HeaderName = "dtrace_probe.h"

//go:embed dtrace_probe.h
var Header []byte
