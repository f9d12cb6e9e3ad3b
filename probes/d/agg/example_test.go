package agg_test

import (
	"fmt"

	"trapline/probes/d/agg"
)

// @reads[execname] = sum(arg2)
func ExampleTable_Update() {
	t, err := agg.New(agg.Spec{Name: "reads", Fn: agg.Sum, Keys: []agg.Key{{Kind: agg.KeyString}}}, 1<<20)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, read := range []struct {
		execname string
		bytes    int64
	}{{"sh", 100}, {"grep", 4096}, {"sh", 28}} {
		t.Update(agg.AppendBytes(nil, []byte(read.execname)), read.bytes, 1)
	}
	for _, row := range agg.Snapshot(agg.Order{}, t) {
		fmt.Printf("%s %d\n", row.Key[0].Bytes, t.Number(row.Data[0], 1))
	}
	// Output:
	// sh 128
	// grep 4096
}
