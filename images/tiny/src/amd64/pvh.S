/*
 * pvh.S: a second way in, for QEMU's -kernel: the PVH protocol. A note names
 * a 32-bit entry, which has %ebx = struct hvm_start_info and no paging. It
 * makes what boot.S wants: long mode and a struct boot_params. No symbol names
 * this code: a tracer would take it for 64-bit instructions.
 */
#include "asm.h"

#define PHYS(symbol) ((symbol) - KERNEL_BASE)
#define START_CMDLINE 24
#define START_MEMMAP 40
#define START_MEMMAP_ENTRIES 48
#define PARAMS_E820_COUNT 0x1e8
#define PARAMS_CMDLINE 0x228
#define PARAMS_E820 0x2d0
#define MSR_EFER 0xc0000080

	.section .note.pvh, "a", @note
	.balign 4
	.long 4, 4, 18		/* name size, size, XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz "Xen"
	.long PHYS(.Lpvh_start)

	.section .text.boot, "ax"
	.code32
.Lpvh_start:
	cld
	mov START_CMDLINE(%ebx), %eax
	mov %eax, PHYS(.Lpvh_params + PARAMS_CMDLINE)

	/* memory map: entries of 24 bytes to entries of 20 */
	mov START_MEMMAP(%ebx), %esi
	mov START_MEMMAP_ENTRIES(%ebx), %edx
	mov %dl, PHYS(.Lpvh_params + PARAMS_E820_COUNT)
	mov $PHYS(.Lpvh_params + PARAMS_E820), %edi
1:	mov $5, %ecx
	rep movsl
	add $4, %esi
	dec %edx
	jnz 1b

	/* the first GiB mapped to itself is enough to reach boot.S */
	mov $PHYS(.Lpvh_pd), %edi
	mov $0x83, %eax
	mov $512, %ecx
2:	mov %eax, (%edi)
	add $0x200000, %eax
	add $8, %edi
	loop 2b
	movl $PHYS(.Lpvh_pd + 3), PHYS(.Lpvh_pdpt)
	movl $PHYS(.Lpvh_pdpt + 3), PHYS(.Lpvh_pml4)
	mov $PHYS(.Lpvh_pml4), %eax
	mov %eax, %cr3
	mov %cr4, %eax
	or $0x20, %eax		/* PAE */
	mov %eax, %cr4
	mov $MSR_EFER, %ecx
	rdmsr
	or $0x100, %eax		/* LME */
	wrmsr
	mov %cr0, %eax
	or $0x80000000, %eax	/* PG */
	mov %eax, %cr0
	lgdt PHYS(.Lpvh_gdt_pointer)
	mov $KERNEL_DS, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	ljmp $KERNEL_CS, $PHYS(.Lpvh_long)
	.code64
.Lpvh_long:
	mov $PHYS(.Lpvh_params), %esi
	jmp _start

	.data
	.balign 8
.Lpvh_gdt:
	.quad 0, 0, 0x00af9a000000ffff, 0x00cf92000000ffff
.Lpvh_gdt_pointer:
	.word . - .Lpvh_gdt - 1
	.long PHYS(.Lpvh_gdt)

	.bss
	.balign 4096
.Lpvh_params:
	.skip 4096
.Lpvh_pml4:
	.skip 4096
.Lpvh_pdpt:
	.skip 4096
.Lpvh_pd:
	.skip 4096
