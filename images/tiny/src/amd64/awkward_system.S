/* awkward_system.S: flags, interrupts, registers of the system. */
#include "awkward.h"

#define MSR_GS_BASE 0xc0000101

	.text
/* ---- flags and interrupts ---- */

AWKWARD flags
	stc
	pushfq
	clc
	popfq
	EXPECT c
	cmc
	EXPECT nc
	mov $0xd7, %ah
	sahf
	EXPECT c
	EXPECT z
	lahf
	EQUAL $0xd7, %ah
	pushfq
	cli
	pushfq
	pop %rax
	popfq
	test $0x200, %eax
	EXPECT z
	pushfq
	pop %rax
	test $0x200, %eax
	EXPECT nz
	std
	pushfq
	pop %rax
	cld
	test $0x400, %eax
	EXPECT nz
DONE flags

AWKWARD interrupts
	cli
	pushfq
	pop %rax
	sti
	nop
	test $0x200, %eax
	EXPECT z
	pushfq
	pop %rax
	test $0x200, %eax
	EXPECT nz
	cli
	sti			/* the shadow of sti */
	cli
	pushfq
	pop %rax
	sti
	test $0x200, %eax
	EXPECT z
DONE interrupts

/* The tick that ends hlt cannot be missed between the two instructions. */
AWKWARD sti_hlt
	mov $3, %ebx
1:	cli
	mov ticks(%rip), %rdx
	sti
	hlt
	cmp ticks(%rip), %rdx
	EXPECT b
	dec %ebx
	jnz 1b
DONE sti_hlt

AWKWARD mov_ss
	mov %rsp, %rbx
	mov %ss, %eax
	mov %eax, %ss
	mov %rbx, %rsp		/* no interrupt before this one */
	EQUAL $KERNEL_DS, %eax
	mov %ds, %ecx
	mov %ecx, %ds
	mov %ecx, %es
DONE mov_ss

AWKWARD swapgs
	cli
	swapgs
	mov $MSR_GS_BASE, %ecx
	rdmsr
	swapgs
	sti
	mov %eax, %ebx
	or %edx, %ebx
	EXPECT z		/* the user's is 0 */
	rdmsr
	shl $32, %rdx
	or %rdx, %rax
	mov $cpu0, %rcx
	EQUAL %rcx, %rax
DONE swapgs

/* ---- registers of the system ---- */

AWKWARD system_registers
	mov %cr3, %rax
	mov %rax, %cr3
	mov %cr3, %rcx
	EQUAL %rcx, %rax
	mov %cr0, %rax
	mov %rax, %cr0
	test $1, %al
	EXPECT nz
	mov %cr4, %rax
	test $0x20, %al
	EXPECT nz
	mov $MSR_GS_BASE, %ecx
	rdmsr
	wrmsr
	str %eax
	EQUAL $TSS_SELECTOR, %ax
	sub $16, %rsp
	sgdt (%rsp)
	lgdt (%rsp)
	sidt (%rsp)
	lidt (%rsp)
	add $16, %rsp
	invlpg cpu0(%rip)
	clts
	mov $KERNEL_DS, %eax
	verw %ax
	EXPECT z
	lsl %eax, %ecx
	EXPECT z
DONE system_registers

AWKWARD cpu_reads
	xor %eax, %eax
	cpuid
	cmp $1, %eax
	EXPECT ae
	rdtsc
	shl $32, %rdx
	or %rdx, %rax
	mov %rax, %rbx
	lfence
	rdtsc
	shl $32, %rdx
	or %rdx, %rax
	cmp %rbx, %rax
	EXPECT ae
	pause
	mfence
	sfence
DONE cpu_reads

/* The scratch register of the first serial port remembers a byte. */
AWKWARD ports
	mov $0x3ff, %edx
	mov $0xa7, %eax
	out %al, %dx
	xor %eax, %eax
	in %dx, %al
	EQUAL $0xa7, %al
	in $0x61, %al
	out %al, $0x80
DONE ports
