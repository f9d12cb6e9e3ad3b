/*
 * copy_user.S: copies between the kernel and a user program. Any access may
 * fault. If the address is good the page comes in and the instruction is done
 * again; if not, the exception table sends us to a fixup by the exact pc.
 */
#include "asm.h"

	.text
/* copy_user(to, from, n): the number of bytes that were not copied */
FUNC copy_user
	push %rbp
	mov %rsp, %rbp
	mov %rdx, %rcx
	cmp $256, %rdx
	jae 5f
	shr $3, %rcx
	jz 3f
1:	mov (%rsi), %rax
2:	mov %rax, (%rdi)
	add $8, %rsi
	add $8, %rdi
	sub $8, %rdx
	dec %rcx
	jnz 1b
3:	test %rdx, %rdx
	jz 7f
4:	mov (%rsi), %al
6:	mov %al, (%rdi)
	inc %rsi
	inc %rdi
	dec %rdx
	jnz 4b
7:	mov %rdx, %rax
	pop %rbp
	ret
5:	rep movsb		/* %rcx: what is left */
8:	mov %rcx, %rax
	pop %rbp
	ret
	FIXUP 1b, 7b
	FIXUP 2b, 7b
	FIXUP 4b, 7b
	FIXUP 6b, 7b
	FIXUP 5b, 8b
END copy_user
