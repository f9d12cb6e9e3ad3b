/*
 * boot.S: the first instructions. We are entered in EL1 at our physical address,
 * caches and MMU off, with the address of the device tree in x0, as Linux is; a
 * loader that knows nothing of Linux leaves 0 there and the tree at the start of
 * memory. Addresses are relative to the pc until the jump.
 *
 * boot_root -+-[0]----> boot_low --[1]------> memory at its own address
 *            +-[273]--> boot_direct [0]...[4] the first 5 GiB at DIRECT_BASE, devices first
 *            +-[511]--> boot_image [510]----> the kernel image
 *
 * paging.c takes the first away and maps the image page by page.
 */
#include "asm.h"

#define BOOT_STACK_SIZE 0x2000
#define RAM 0x40000000

/* Block entries: accessed, shareable, memory type 0 or 1; UXN, PXN */
#define TABLE 0x3
#define NORMAL (0x701 | 1 << 54)
#define NORMAL_NX (0x701 | 3 << 53)
#define DEVICE_NX (0x405 | 3 << 53)

#define MEMORY_TYPES 0x04ff /* 0: normal, write-back; 1: device */
/* T0SZ 17, T1SZ 16, 4 KiB, write-back, shareable, 40 bits of physical address */
#define TRANSLATION (17 | 0x35 << 8 | 16 << 16 | 0xb5 << 24 | 2 << 32)
#define CONTROL 0x30d0181d /* MMU, caches, alignment of sp; the bits that are 1 */

	.section .text.boot, "ax"
FUNC _start
	msr daifset, #15
	mov x19, x0
	cbnz x19, 1f
	mov x19, #RAM
1:	adrp x0, boot_root
	adrp x1, boot_low
	add x2, x1, #TABLE
	str x2, [x0]
	ldr x2, =NORMAL + RAM
	str x2, [x1, #8]
	adrp x1, boot_image
	str x2, [x1, #510 * 8]
	add x2, x1, #TABLE
	str x2, [x0, #511 * 8]
	adrp x1, boot_direct
	add x2, x1, #TABLE
	str x2, [x0, #273 * 8]
	ldr x2, =DEVICE_NX
	ldr x3, =NORMAL_NX
	mov x5, #RAM
	str x2, [x1]
	mov x4, #4
2:	add x3, x3, x5
	str x3, [x1, #8]!
	subs x4, x4, #1
	b.ne 2b

	ldr x1, =MEMORY_TYPES
	msr mair_el1, x1
	ldr x1, =TRANSLATION
	msr tcr_el1, x1
	msr ttbr0_el1, x0
	msr ttbr1_el1, x0
	isb
	tlbi vmalle1
	dsb nsh
	isb
	ldr x1, =CONTROL
	msr sctlr_el1, x1
	isb
	ldr x1, =3f
	br x1
3:	ldr x1, =boot_stack + BOOT_STACK_SIZE
	mov sp, x1
	mov x29, xzr
	mov x30, xzr
	mov x0, x19
	bl start
END _start
	.ltorg

	.bss
	.balign 4096
	.globl boot_root
	.macro PAGES name, pages
	.type \name, %object
	.size \name, \pages * 4096
\name:	.skip \pages * 4096
	.endm
	PAGES boot_root, 1
	PAGES boot_low, 1
	PAGES boot_direct, 1
	PAGES boot_image, 1
	PAGES boot_stack, 2
