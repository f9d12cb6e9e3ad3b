package buffer_test

import (
	"fmt"

	"trapline/probes/d/buffer"
)

// The record of { trace(arg0); trace(execname); }
func ExampleBuffer() {
	l := buffer.NewLayout()
	l.Add(buffer.Field{Kind: buffer.Int, Size: 8, Signed: true, Action: 0})
	l.Add(buffer.Field{Kind: buffer.String, Size: 256, Action: 1})
	b := buffer.New(0, 4096)

	rec := b.Reserve(l.Size)
	l.Fields[0].PutInt(rec, 42)
	l.Fields[1].PutString(rec, []byte("sh"))
	b.Commit(l.Size, buffer.Header{EPID: 1, Time: 1000})

	layout := func(uint32) *buffer.Layout { return l }
	err := b.Records(layout, func(h buffer.Header, rec []byte) error {
		fmt.Printf("%d %d: %d %s\n", h.EPID, h.Time, l.Fields[0].Int(rec), l.Fields[1].String(rec))
		return nil
	})
	fmt.Println(err)
	// Output:
	// 1 1000: 42 sh
	// <nil>
}
