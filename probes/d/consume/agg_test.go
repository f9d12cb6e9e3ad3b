package consume

import (
	"testing"

	"trapline/probes/d/agg"
	"trapline/probes/d/code"
)

var (
	keyStr = agg.Key{Kind: agg.KeyString}
	keyInt = agg.Key{Size: 4, Signed: true}
)

// key packs strings, 4-byte numbers and stacks.
func key(parts ...any) (k []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			k = agg.AppendBytes(k, []byte(p))
		case int:
			k = agg.AppendInt(k, uint64(p), 4)
		case []uint64:
			k = agg.AppendStack(k, p)
		}
	}
	return k
}

func (s *stage) end() *stage {
	if err := s.text().End(); err != nil {
		s.t.Error(err)
	}
	return s
}

// At the end: an empty line, then the aggregations in the order of their declaration, each
// sorted.
func TestEnd(t *testing.T) {
	s := newStage(t)
	one := s.table(agg.Spec{Name: "one", Fn: agg.Sum, Keys: []agg.Key{keyStr, keyInt}})
	two := s.table(agg.Spec{Name: "two", Fn: agg.Avg})
	s.table(agg.Spec{Name: "empty", Fn: agg.Count})
	two.Update(nil, 10, 1)
	two.Update(nil, 21, 1)
	one.Update(key("busybox", 7), 500, 1)
	one.Update(key("swapper/0", -1), -1, 1)
	one.Update(key("a name that is longer than fifty characters, by a word", 1), 500, 1)
	s.end().want(`
$
  swapper/0                                                -1               -1$
  a name that is longer than fifty characters, by a word        1              500$
  busybox                                                   7              500$
               15$
`)
}

func TestEndIntegerKeys(t *testing.T) {
	s := newStage(t)
	tab := s.table(agg.Spec{Fn: agg.Count, Keys: []agg.Key{{Size: 8}, {Size: 4}, {Size: 2}, {Size: 1}}})
	k := agg.AppendInt(agg.AppendInt(agg.AppendInt(agg.AppendInt(nil, 1, 8), 2, 4), 3, 2), 4, 1)
	tab.Update(k, 0, 1)
	s.end().want(`
$
                1        2     3   4                1$
`)
}

func TestEndStackKey(t *testing.T) {
	s := newStage(t)
	tab := s.table(agg.Spec{Fn: agg.Count, Keys: []agg.Key{{Kind: agg.KeyStack}}})
	tab.Update(key([]uint64{0x1017, 0x9000}), 0, 1)
	s.end().want(`
$
$
              vmlinux` + "`" + `vfs_read+0x17$
              0x9000$
                1$
`)
}

func TestEndEmpty(t *testing.T) {
	newStage(t).end().want("$\n")
}

func TestQuantizePositive(t *testing.T) {
	s := newStage(t)
	tab := s.table(agg.Spec{Fn: agg.Quantize, Keys: []agg.Key{keyStr}})
	for _, v := range []int64{0, 1, 1, 5, 5, 5, 5, 7} {
		tab.Update(key("read"), v, 1)
	}
	s.end().want(`
$
  read                                              $
           value  ------------- Distribution ------------- count    $
              -1 |                                         0        $
               0 |@@@@@                                    1        $
               1 |@@@@@@@@@@                               2        $
               2 |                                         0        $
               4 |@@@@@@@@@@@@@@@@@@@@@@@@@                5        $
               8 |                                         0        $
$
`)
}

func TestQuantizeNegativeCounts(t *testing.T) {
	s := newStage(t)
	tab := s.table(agg.Spec{Fn: agg.Quantize})
	tab.Update(nil, -2, -1)
	tab.Update(nil, 4, -3)
	s.end().want(`
$
$
           value  ------------- Distribution ------------- count    $
              -4                                         | 0        $
              -2                               @@@@@@@@@@| -1       $
              -1                                         | 0        $
               0                                         | 0        $
               1                                         | 0        $
               2                                         | 0        $
               4           @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@| -3       $
               8                                         | 0        $
$
`)
}

func TestQuantizeBothSigns(t *testing.T) {
	s := newStage(t)
	tab := s.table(agg.Spec{Fn: agg.Quantize})
	tab.Update(nil, 0, -1)
	tab.Update(nil, 1, 3)
	s.end().want(`
$
$
           value  ------------- Distribution ------------- count    $
              -1                     |                     0        $
               0                @@@@@|                     -1       $
               1                     |@@@@@@@@@@@@@@@      3        $
               2                     |                     0        $
$
`)
}

// Counts that have cancelled out leave all buckets empty.
func TestQuantizeEmpty(t *testing.T) {
	s := newStage(t)
	tab := s.table(agg.Spec{Fn: agg.Quantize})
	tab.Update(nil, 100, 1)
	tab.Update(nil, 100, -1)
	s.end().want(`
$
$
           value  ------------- Distribution ------------- count    $
              -1 |                                         0        $
               0 |                                         0        $
               1 |                                         0        $
$
`)
}

func TestQuantizeExtremes(t *testing.T) {
	s := newStage(t)
	tab := s.table(agg.Spec{Fn: agg.Quantize})
	tab.Update(nil, -1<<63, 1)
	s.end().want(`
$
$
           value  ------------- Distribution ------------- count    $
-4611686018427387904 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        $
-2305843009213693952 |                                         0        $
$
`)
}

func TestLQuantize(t *testing.T) {
	s := newStage(t)
	tab := s.table(agg.Spec{Fn: agg.LQuantize, Args: []int64{0, 30, 10}})
	for _, v := range []int64{-5, 12, 19, 30} {
		tab.Update(nil, v, 1)
	}
	s.end().want(`
$
$
           value  ------------- Distribution ------------- count    $
             < 0 |@@@@@@@@@@                               1        $
               0 |                                         0        $
              10 |@@@@@@@@@@@@@@@@@@@@                     2        $
              20 |                                         0        $
           >= 30 |@@@@@@@@@@                               1        $
$
`)
}

func TestLLQuantize(t *testing.T) {
	s := newStage(t)
	tab := s.table(agg.Spec{Fn: agg.LLQuantize, Args: []int64{10, 2, 3, 10}})
	for _, v := range []int64{5, 150, 250, 9999, 10000} {
		tab.Update(nil, v, 1)
	}
	s.end().want(`
$
$
           value  ------------- Distribution ------------- count    $
           < 100 |@@@@@@@@                                 1        $
             100 |@@@@@@@@                                 1        $
             200 |@@@@@@@@                                 1        $
             300 |                                         0        $
             400 |                                         0        $
             500 |                                         0        $
             600 |                                         0        $
             700 |                                         0        $
             800 |                                         0        $
             900 |                                         0        $
            1000 |                                         0        $
            2000 |                                         0        $
            3000 |                                         0        $
            4000 |                                         0        $
            5000 |                                         0        $
            6000 |                                         0        $
            7000 |                                         0        $
            8000 |                                         0        $
            9000 |@@@@@@@@                                 1        $
        >= 10000 |@@@@@@@@                                 1        $
$
`)
}

// filled is a stage with two aggregations under the same kinds of keys.
func filled(t *testing.T, a code.Action) *stage {
	s := newStage(t, a)
	s.opts.Quiet = true
	one := s.table(agg.Spec{Name: "one", Fn: agg.Count, Keys: []agg.Key{keyStr, keyInt}})
	two := s.table(agg.Spec{Name: "two", Fn: agg.Max, Keys: []agg.Key{keyStr, keyInt}})
	one.Update(key("sh", 3), 0, 1)
	one.Update(key("sh", 3), 0, 1)
	one.Update(key("ls", -4), 0, 1)
	two.Update(key("sh", 3), 77, 1)
	two.Update(key("cat", 5), 99, 1)
	return s
}

func printa(format string, aggs ...int) code.Action {
	return code.Action{Act: code.Printa, Format: format, Aggs: aggs}
}

// What printa has printed is not printed again at the end.
func TestPrintaDefault(t *testing.T) {
	filled(t, printa("", 0)).record().end().want(`
$
  ls                                                       -4                1$
  sh                                                        3                2$
$
  sh                                                        3               77$
  cat                                                       5               99$
`)
}

func TestPrintaDefaultJoined(t *testing.T) {
	filled(t, printa("", 0, 1)).record().end().want(`
$
  cat                                                       5                0               99$
  ls                                                       -4                1                0$
  sh                                                        3                2               77$
$
`)
}

func TestPrintaNotQuiet(t *testing.T) {
	s := filled(t, printa("", 0))
	s.opts.Quiet = false
	s.record().want(`
CPU     ID                    FUNCTION:NAME$
  0   1234                      vfs_read:17 $
  ls                                                       -4                1$
  sh                                                        3                2$
$
`)
}

func TestPrintaFormat(t *testing.T) {
	tests := []struct {
		format string
		aggs   []int
		order  agg.Order
		want   string
	}{
		{"%@d %s\n", []int{0}, agg.Order{}, "1 ls$\n2 sh$\n"},
		{"%-5s|%5d|%@05d|\n", []int{0}, agg.Order{}, "ls   |   -4|00001|$\nsh   |    3|00002|$\n"},
		{"%s %@x %@d %@u\n", []int{1, 0}, agg.Order{}, "ls 0 1 1$\nsh 4d 2 2$\ncat 63 0 0$\n"},
		{"%s %@d %@d\n", []int{1, 0}, agg.Order{AggPos: 1}, "cat 99 0$\nls 0 1$\nsh 77 2$\n"},
		{"%s %@d\n", []int{0}, agg.Order{Rev: true}, "sh 2$\nls 1$\n"},
		{"%s %u\n", []int{0}, agg.Order{ByKey: true}, "ls 4294967292$\nsh 3$\n"},
		{"%s %d %d %s%@d\n", []int{0}, agg.Order{}, "ls -4  1$\nsh 3  2$\n"}, // more conversions than keys
	}
	for _, test := range tests {
		s := filled(t, printa(test.format, test.aggs...))
		s.opts.Order = test.order
		s.record().want(test.want)
	}
}

func TestPrintaFormatDistribution(t *testing.T) {
	s := newStage(t, printa("%s:%@d.\n", 0))
	s.opts.Quiet = true
	tab := s.table(agg.Spec{Fn: agg.Quantize, Keys: []agg.Key{keyStr}})
	tab.Update(key("a"), 1, 1)
	s.record().want(`
a:$
           value  ------------- Distribution ------------- count    $
               0 |                                         0        $
               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        $
               2 |                                         0        $
.$
`)
}

// An aggregation that was still empty at printa is printed at the end.
func TestPrintaOfNothing(t *testing.T) {
	s := newStage(t, printa("%@d\n", 0))
	s.opts.Quiet = true
	tab := s.table(agg.Spec{Fn: agg.Count})
	s.record()
	tab.Update(nil, 0, 1)
	s.end().want("$\n                1$\n")
}
