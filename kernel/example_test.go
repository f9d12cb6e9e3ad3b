package kernel_test

import (
	"fmt"
	"log"

	"trapline/kernel"
)

func ExampleOpen() {
	img, err := kernel.Open("testdata/kernel-amd64.elf")
	if err != nil {
		log.Fatal(err)
	}
	defer img.Close()
	fmt.Println(img.Arch(), img.Banner("linux_banner"))
	// Output: amd64 Linux version 6.1.0-test (someone@example.org) #1
}

func ExampleSymtab_At() {
	img, err := kernel.Open("testdata/kernel-amd64.elf")
	if err != nil {
		log.Fatal(err)
	}
	defer img.Close()
	const pc = 0xffffffff8100002c
	if s, ok := img.Symtab().At(pc); ok {
		fmt.Printf("%s`%s+0x%x\n", "vmlinux", s.Name, pc-s.Addr)
	}
	// Output: vmlinux`one+0x5
}

func ExampleSymtab_Lookup() {
	img, err := kernel.Open("testdata/kernel-amd64.elf")
	if err != nil {
		log.Fatal(err)
	}
	defer img.Close()
	// Two source files have a local function of this name.
	for _, s := range img.Symtab().Lookup("twin") {
		fmt.Printf("%#x %d bytes\n", s.Addr, s.Size)
	}
	// Output:
	// 0xffffffff81000023 4 bytes
	// 0xffffffff8100003e 4 bytes
}

func ExampleSymtab_Nearest() {
	img, err := kernel.Open("testdata/kernel-amd64.elf")
	if err != nil {
		log.Fatal(err)
	}
	defer img.Close()
	fmt.Println(img.Symtab().Nearest("tiwn", 3))
	// Output: [twin]
}
