package guestos_test

import (
	"fmt"
	"log"

	"trapline/kernel"
	"trapline/kernel/guestos"
)

func ExampleDetect() {
	img, err := kernel.Open("testdata/linux-amd64.elf")
	if err != nil {
		log.Fatal(err)
	}
	defer img.Close()
	guest, err := guestos.Detect(img, "")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(guest.System().Name)
	f := img.Symtab().Lookup("forbidden")[0]
	fmt.Println(guest.Unsafe(f.Addr))
	// Output:
	// linux
	// on Linux's kprobe blacklist (NOKPROBE_SYMBOL)
}
