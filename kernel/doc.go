// Package kernel reads a kernel image: the ELF file that the guest was linked as.
//
//	vmlinux --Open--> Image --Segments--> what a loader puts into memory
//	                    |    --Section---> .BTF, .orc_unwind, notes ...
//	                    |    --Text------> bytes of the file at an address
//	                    +----- Symtab ---> names <-> addresses, sizes, aliases
//
// An image is mapped, never read whole: what no one looks at costs no memory, though the
// file be hundreds of megabytes of debug information.
//
// # Addresses
//
// The file knows link-time addresses. A guest that moves its kernel (KASLR) runs it at
// the link-time address plus a slide, which [Image.SetSlide] sets once it is known.
// Symtab and Text take and give slid addresses; Segments, Section and Entry, which
// describe the file, do not. Per-CPU offsets and absolute symbols never slide.
//
// What only the guest's operating system knows (its current thread, its stack, its own
// idea of code that must not be probed) is in package kernel/guestos.
package kernel
