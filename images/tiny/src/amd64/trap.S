/*
 * trap.S: the way into the kernel for exceptions and interrupts. The CPU has
 * pushed ss, rsp, flags, cs, rip (and for some exceptions an error code) on
 * the kernel stack of the thread; we complete struct trapframe.
 */
#include "asm.h"

	.text
/* 256 stubs of 16 bytes. 8, 10 to 14, 17, 21, 29 and 30 have an error code. */
FUNC trap_vectors
	.set .Lvector, 0
	.rept 256
	.balign 16
	.if !(.Lvector == 8 || (.Lvector >= 10 && .Lvector <= 14) || .Lvector == 17 || .Lvector == 21 || .Lvector == 29 || .Lvector == 30)
	push $0
	.endif
	push $.Lvector
	jmp trap_entry
	.set .Lvector, .Lvector + 1
	.endr
END trap_vectors

FUNC trap_entry
	SAVE_REGS
	cld
	mov %rsp, %rdi
	testb $3, TF_CS(%rsp)
	jz 1f
	swapgs
	xor %ebp, %ebp		/* the kernel's call chain ends here */
	call trap
	jmp trap_return

	/* From the kernel: make it look as if the code had called us. */
1:	push TF_RIP(%rdi)
	push %rbp
	mov %rsp, %rbp
	call trap
	add $16, %rsp
	jmp trap_return
END trap_entry

/* %rsp = struct trapframe, interrupts disabled */
FUNC trap_return
	testb $3, TF_CS(%rsp)
	jz 1f
	swapgs
1:	RESTORE_REGS
	add $16, %rsp		/* .Lvector, error code */
	iretq
END trap_return

/*
 * SYSCALL comes here with the user's stack, %rcx = its rip, %r11 = its flags,
 * interrupts disabled by the flag mask. The frame is the one of a trap, so
 * that fork can give it to the child, who returns by iretq.
 */
FUNC syscall_entry
	swapgs
	mov %rsp, %gs:CPU_USER_SP
	mov %gs:CPU_KERNEL_SP, %rsp
	push $USER_DS
	push %gs:CPU_USER_SP
	push %r11
	push $USER_CS
	push %rcx
	push $0
	push $VECTOR_SYSCALL
	SAVE_REGS
	xor %ebp, %ebp
	mov %rsp, %rdi
	sti
	call syscall
	cli
	RESTORE_REGS
	add $16, %rsp
	mov (%rsp), %rcx
	mov 16(%rsp), %r11
	mov 24(%rsp), %rsp
	swapgs
	sysretq
END syscall_entry
