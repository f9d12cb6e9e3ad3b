package control

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// decode runs a whole stream through a Decoder.
func decode(stream []byte) (frames []Frame, d Decoder, err error) {
	for _, b := range stream {
		f, ok, err := d.Byte(b)
		if err != nil {
			return frames, d, err
		}
		if ok {
			frames = append(frames, Frame{f.Type, bytes.Clone(f.Payload)})
		}
	}
	return frames, d, nil
}

func TestRoundTrip(t *testing.T) {
	frames := []Frame{
		{Ready, nil},
		{Command, []byte("echo täst")},
		{Command, bytes.Repeat([]byte("x"), MaxCommand)},
		{Stdout, []byte{0, 'R', 0xff}},
		{Stderr, nil},
		{Stderr, bytes.Repeat([]byte("y"), MaxData)},
		{Status, []byte{200}},
	}
	var stream []byte
	for _, f := range frames {
		var err error
		if stream, err = f.Append(stream); err != nil {
			t.Fatal(err)
		}
	}
	got, d, err := decode(stream)
	if err != nil || d.Partial() {
		t.Fatalf("err %v, partial %v", err, d.Partial())
	}
	if len(got) != len(frames) {
		t.Fatalf("%d frames, want %d", len(got), len(frames))
	}
	for i := range frames {
		if got[i].Type != frames[i].Type || !bytes.Equal(got[i].Payload, frames[i].Payload) {
			t.Errorf("frame %d: %v of %d bytes", i, got[i].Type, len(got[i].Payload))
		}
	}
}

func TestAppendErrors(t *testing.T) {
	for _, tt := range []struct {
		typ  Type
		n    int
		want string
	}{
		{'?', 0, "unknown frame type '?'"},
		{0, 0, `unknown frame type '\x00'`},
		{Ready, 1, "'R' of 1 bytes: at most 0"},
		{Stdout, MaxData + 1, "'O' of 65536 bytes: at most 65535"},
		{Status, 0, "at least 1"},
		{Status, 2, "at most 1"},
		{Command, 0, "at least 1"},
		{Command, MaxCommand + 1, "at most 32768"},
	} {
		dst, err := Frame{tt.typ, make([]byte, tt.n)}.Append([]byte("kept"))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v of %d: error %v, want %q", tt.typ, tt.n, err, tt.want)
		}
		if string(dst) != "kept" {
			t.Errorf("%v of %d: destination changed to %q", tt.typ, tt.n, dst)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, tt := range []struct {
		stream string
		at     int // index of the byte that is refused
		want   string
	}{
		{"X", 0, "unknown frame type 'X'"},
		{"R\x00\x00\n", 3, `unknown frame type '\n'`},
		{"R\x01\x00", 2, "at most 0"},
		{"S\x00\x00", 2, "at least 1"},
		{"S\x02\x00", 2, "at most 1"},
		{"C\x01\x80", 2, "of 32769 bytes"},
	} {
		var d Decoder
		for i := range len(tt.stream) {
			_, _, err := d.Byte(tt.stream[i])
			if (err != nil) != (i == tt.at) {
				t.Errorf("%q: byte %d: error %v", tt.stream, i, err)
			}
			if err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q: error %v, want %q", tt.stream, err, tt.want)
			}
		}
		first := d.err
		if _, ok, err := d.Byte('R'); ok || err != first {
			t.Errorf("%q: after the error: %v, %v", tt.stream, ok, err)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte("R\x00\x00O\x02\x00hiS\x01\x00\x03"))
	f.Add([]byte("C\x03\x00a b"))
	f.Add([]byte("O\xff\xff"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		frames, d, err := decode(stream)
		var again []byte
		for _, fr := range frames {
			var e error
			if again, e = fr.Append(again); e != nil {
				t.Fatalf("decoded a frame that cannot be sent: %v", e)
			}
		}
		if !bytes.HasPrefix(stream, again) {
			t.Fatalf("%q decoded to %q", stream, again)
		}
		if err == nil && !d.Partial() && len(again) != len(stream) {
			t.Fatalf("%q: %d bytes got lost", stream, len(stream)-len(again))
		}
	})
}

func TestHost(t *testing.T) {
	var out, errs, sent bytes.Buffer
	h, err := NewHost("exit 3", &out, &errs, func(p []byte) { sent.Write(p) })
	if err != nil {
		t.Fatal(err)
	}
	feed := func(s string) {
		t.Helper()
		for i := range len(s) {
			if err := h.Byte(s[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if h.Ready() || sent.Len() > 0 {
		t.Fatal("ready before the guest")
	}
	feed("R\x00\x00")
	if !h.Ready() || sent.String() != "C\x06\x00exit 3" {
		t.Fatalf("sent %q", sent.String())
	}
	feed("O\x02\x00o1E\x01\x00eO\x02\x00o2")
	if _, ok := h.Status(); ok {
		t.Error("status before the end")
	}
	feed("S\x01\x00\x83")
	if st, ok := h.Status(); !ok || st != 131 {
		t.Errorf("status %d, %v", st, ok)
	}
	if out.String() != "o1o2" || errs.String() != "e" {
		t.Errorf("output %q, standard error %q", &out, &errs)
	}
	feed("S\x01")
	if err := h.Byte(0); err != nil {
		t.Fatal(err)
	}
	if err := h.Byte(0); err == nil || !strings.Contains(err.Error(), "after the exit status") {
		t.Errorf("second status: error %v", err)
	}
}

func TestHostProtocol(t *testing.T) {
	for stream, want := range map[string]string{
		"O\x01\x00x":         "'O' from the guest before the guest was ready",
		"S\x01\x00x":         "'S' from the guest before the guest was ready",
		"R\x00\x00R\x00\x00": "'R' from the guest while the command runs",
		"C\x01\x00x":         "'C' from the guest before",
		"boot: noise":        "unknown frame type 'b'",
	} {
		h, _ := NewHost("true", nil, nil, func([]byte) {})
		var err error
		for i := 0; i < len(stream) && err == nil; i++ {
			err = h.Byte(stream[i])
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", stream, err, want)
		}
	}
}

type brokenWriter struct{ error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.error }

func TestHostWriteError(t *testing.T) {
	broken := errors.New("pipe is gone")
	h, _ := NewHost("true", brokenWriter{broken}, nil, func([]byte) {})
	var err error
	for _, b := range []byte("R\x00\x00O\x01\x00x") {
		err = h.Byte(b)
	}
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestNewHostErrors(t *testing.T) {
	for _, c := range []string{"", "a\x00b", strings.Repeat("x", MaxCommand+1)} {
		if _, err := NewHost(c, nil, nil, nil); err == nil {
			t.Errorf("command of %d bytes accepted", len(c))
		}
	}
}

func ExampleDecoder() {
	var d Decoder
	for _, b := range []byte("O\x03\x00hi\nS\x01\x00\x00") {
		if f, ok, _ := d.Byte(b); ok {
			fmt.Printf("%v %q\n", f.Type, f.Payload)
		}
	}
	// Output:
	// 'O' "hi\n"
	// 'S' "\x00"
}
