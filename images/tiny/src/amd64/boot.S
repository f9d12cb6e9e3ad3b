/*
 * boot.S: the first instructions. The loader follows Linux's 64-bit boot
 * protocol: long mode, the first 4 GiB mapped to themselves, interrupts off,
 * the address of struct boot_params in %rsi. We run at our physical address,
 * so everything is addressed relative to %rip until the jump.
 *
 * boot_pml4 -+-[0]---> boot_pdpt --> 4 x boot_pd   memory at its own address
 *            +-[273]-> boot_pdpt                   and at DIRECT_BASE
 *            +-[511]-> kernel_pdpt -[510]-> boot_pd   the kernel image
 *
 * paging.c takes the first away and maps the image page by page.
 */
#include "asm.h"

#define BOOT_STACK_SIZE 0x2000
#define PRESENT_WRITE 0x3
#define PRESENT_WRITE_LARGE 0x83

	.section .text.boot, "ax"
FUNC _start
	cld
	mov %rsi, %rbx
	lea boot_stack+BOOT_STACK_SIZE(%rip), %rsp

	/* 2048 pages of 2 MiB */
	lea boot_pd(%rip), %rdi
	mov $PRESENT_WRITE_LARGE, %eax
	mov $2048, %ecx
1:	mov %rax, (%rdi)
	add $0x200000, %rax
	add $8, %rdi
	loop 1b

	lea boot_pd+PRESENT_WRITE(%rip), %rax
	lea kernel_pdpt(%rip), %rdi
	mov %rax, 510*8(%rdi)
	lea boot_pdpt(%rip), %rsi
	mov $4, %ecx
2:	mov %rax, (%rsi)
	add $0x1000, %rax
	add $8, %rsi
	loop 2b

	lea boot_pml4(%rip), %rcx
	lea boot_pdpt+PRESENT_WRITE(%rip), %rax
	mov %rax, (%rcx)
	mov %rax, 273*8(%rcx)
	lea kernel_pdpt+PRESENT_WRITE(%rip), %rax
	mov %rax, 511*8(%rcx)
	mov %rcx, %cr3

	movabs $1f, %rax
	jmp *%rax
1:	mov $boot_stack+BOOT_STACK_SIZE, %rsp
	xor %ebp, %ebp
	mov %rbx, %rdi
	call kmain
2:	cli
	hlt
	jmp 2b
END _start

	.bss
	.balign 4096
	.globl boot_pml4
	.macro TABLE name, pages
	.type \name, @object
	.size \name, \pages * 4096
\name:	.skip \pages * 4096
	.endm
	TABLE boot_pml4, 1
	TABLE boot_pdpt, 1
	TABLE kernel_pdpt, 1
	TABLE boot_pd, 4
	TABLE boot_stack, 2
