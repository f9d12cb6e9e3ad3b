package emu

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"trapline/kernel/arch"
)

func TestTry(t *testing.T) {
	f := os.Getenv("TRY_KERNEL")
	if f == "" {
		f = "../images/tiny/tiny-amd64.elf"
	}
	k, err := os.ReadFile(f)
	if err != nil {
		t.Fatal(err)
	}
	var initrd []byte
	if r := os.Getenv("TRY_INITRD"); r != "" {
		initrd, _ = os.ReadFile(r)
	}
	var con bytes.Buffer
	m, err := New(arch.AMD64, Config{Memory: 256 << 20, Console: func(b byte) { con.WriteByte(b) }})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	p, err := m.Boot(Boot{Kernel: bytes.NewReader(k), CommandLine: os.Getenv("TRY_CMD"), Initrd: initrd})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%+v\n", p)
	m.SetLimit(20e9)
	t0 := time.Now()
	end, err := m.Run()
	fmt.Println(con.String())
	fmt.Println(end, err, m.Now(), m.ResetReason(), time.Since(t0))
	fmt.Printf("%+v\n", m.Counters())
	h, err := m.StateHash()
	fmt.Printf("%x %v\n", h, err)
}
