package tracejson

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	rows, err := Read(strings.NewReader(`3 forks
{"type":"record","timestamp":1}
{"type":"aggregation","keys":["a b",-3,{"address":"0x10","module":"m","symbol":"f","offset":4},{"bytes":"00ff"}],"values":[{"name":"@","function":"count","value":7},{"name":"@s","function":"sum","value":-9223372036854775808}]}
{"type":"aggregation","keys":[[{"address":"0x10","symbol":"f","offset":4},{"address":"0x20"}]],"values":[{"name":"@q","function":"lquantize","buckets":[{"below":0,"count":1},{"value":0,"count":2},{"above":10,"count":3}]}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	keys := []Key{{Text: "a b"}, {Text: "-3"}, {Text: "f"}, {Text: `{"bytes":"00ff"}`}}
	want := []Row{
		{Name: "@", Function: "count", Keys: keys, Value: 7},
		{Name: "@s", Function: "sum", Keys: keys, Value: -1 << 63},
		{Name: "@q", Function: "lquantize",
			Keys:    []Key{{Text: "f < 0x20", Stack: []Frame{{Address: "0x10", Symbol: "f", Offset: 4}, {Address: "0x20"}}}},
			Buckets: []Bucket{{"<0", 1}, {"0", 2}, {">=10", 3}}},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

func TestReadDamaged(t *testing.T) {
	for _, text := range []string{
		`{"type":"aggregation","keys":[`,
		`{"type":"aggregation","keys":[[1]],"values":[]}`,
		`{"type":"aggregation","keys":[],"values":[{"value":"x"}]}`,
	} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}
