/*
 * boot.S: the first instructions. The firmware enters us in supervisor mode, at
 * our physical address, paging off, with the number of the hart in a0 and the
 * address of the device tree in a1. Addresses are relative to the pc until the
 * jump.
 *
 * boot_root -+-[2]----------> memory at its own address
 *            +-[320]...[325]  the first 6 GiB at DIRECT_BASE
 *            +-[510]--------> the kernel image
 *
 * paging.c takes the first away and maps the image page by page.
 */
#include "asm.h"

#define BOOT_STACK_SIZE 0x2000
#define HART_STACK_SIZE 0x2000
#define GIGABYTE 0x10000000 /* in an entry */
#define LEAF_RWX 0xef
#define LEAF_RW 0xe7
#define SV39 8

	.section .text.boot, "ax"
FUNC _start
	csrw sie, zero
	csrw sscratch, zero
	mv s1, a1
	lla t0, boot_root
	li t1, 2 * GIGABYTE | LEAF_RWX
	sd t1, 2 * 8(t0)
	li t2, 510 * 8
	add t2, t2, t0
	sd t1, (t2)
	li t2, 320 * 8
	add t2, t2, t0
	li t1, LEAF_RW
	li t3, GIGABYTE
	li t4, 6
1:	sd t1, (t2)
	add t1, t1, t3
	addi t2, t2, 8
	addi t4, t4, -1
	bnez t4, 1b

	call paging_on
	lla sp, boot_stack + BOOT_STACK_SIZE
	li fp, 0
	mv a0, s1
	call start
END _start

/* Called at our physical address; returns with paging on, where the image is linked. */
FUNC paging_on
	lla t0, boot_root
	srli t0, t0, 12
	li t1, SV39
	slli t1, t1, 60
	or t0, t0, t1
	sfence.vma
	csrw satp, t0
	sfence.vma
	li t1, KERNEL_BASE
	add ra, ra, t1
	ret
END paging_on

/* Another hart, as the firmware has started it for cpu_start. */
FUNC hart_begin
	csrw sie, zero
	csrw sscratch, zero
	call paging_on
	lla sp, hart_stack + HART_STACK_SIZE
	li fp, 0
	call hart_main
END hart_begin

	.bss
	.balign 4096
	.globl boot_root
	.type boot_root, @object
	.size boot_root, 4096
boot_root:
	.skip 4096
	.type boot_stack, @object
	.size boot_stack, BOOT_STACK_SIZE
boot_stack:
	.skip BOOT_STACK_SIZE
	.type hart_stack, @object
	.size hart_stack, HART_STACK_SIZE
hart_stack:
	.skip HART_STACK_SIZE
