package consume_test

import (
	"fmt"
	"os"

	"trapline/probes/d/buffer"
	"trapline/probes/d/code"
	"trapline/probes/d/consume"
	"trapline/probes/d/option"
)

// { printf("read %d bytes", arg2); }
func Example() {
	layout := buffer.NewLayout()
	layout.Add(buffer.Field{Kind: buffer.Int, Size: 8, Signed: true})
	read := &consume.Enabling{Probe: consume.Probe{ID: 71, Prov: "kinst", Module: "vmlinux", Func: "vfs_read", Name: "0"}}
	trace := &consume.Trace{
		Program: &code.Program{Clauses: []*code.Clause{{
			Actions: []code.Action{{Act: code.Printf, Format: "read %d bytes"}},
		}}},
		Layouts:  []*buffer.Layout{layout},
		Enabling: func(uint32) *consume.Enabling { return read },
	}
	text, err := consume.NewText(trace, option.View{Quiet: true}, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Println(err)
		return
	}
	b := buffer.New(0, 4096)
	layout.Fields[0].PutInt(b.Reserve(layout.Size), 512)
	b.Commit(layout.Size, buffer.Header{EPID: 1})
	if err := consume.NewReader(trace).Drain(b, text); err != nil {
		fmt.Println(err)
	}
	if err := text.End(); err != nil {
		fmt.Println(err)
	}
	// Output: read 512 bytes
}
