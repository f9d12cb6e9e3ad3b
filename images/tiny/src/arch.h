/*
 * arch.h: what each architecture gives to the common part. The inline
 * functions and struct trapframe are in its cpu.h, the rest in its .c and .S
 * files. An architecture is added by adding a folder.
 *
 * cpu.h gives:
 *	struct trapframe             registers of the interrupted code
 *	irq_save, irq_restore, irq_enable, irq_disable
 *	cpu_idle()                   enables interrupts and waits for one
 *	cpu_halt()                   stops for good
 *	machine_off()                the same, with the power off if there is a way
 *	frame_pointer()              of the calling function
 *	frame_outer, frame_return    what a frame pointer leads to
 *	get_user_byte                one byte of the user's, or false
 *	phys_to_virt, virt_to_phys   the direct map
 *	image_to_phys                addresses of the kernel image
 *	page_clear, page_copy        a whole page
 *	frame_number, frame_arg0...  of a system call; frame_is_user
 *	WARN(text)                   an illegal instruction in the bug table
 *	USER_STACK_TOP               end of the user half, in layout.h
 */
#pragma once

#include "cpu.h"
#include "types.h"

/* boot.c: command line to boot_line, free memory to page_add */
void boot_info(u64 arg);

/* uart.c: two serial ports. */
enum { CONSOLE, CHANNEL };
bool uart_init(int port); /* false: not there */
void uart_write(int port, const char *data, u32 n);
int uart_read(int port); /* -1: nothing there now */

/* paging.c: page tables */
enum { PROT_WRITE = 1, PROT_EXEC = 2, PROT_USER = 4 };
void paging_init(void);
u64 paging_new(void);             /* tables with an empty user half */
void paging_free(u64 root);       /* frees the tables and the private pages */
void paging_map(u64 root, u64 va, u64 pa, int prot);
void paging_share(u64 root, u64 va, u64 pa, int prot); /* not freed by us */
void paging_copy(u64 to, u64 from); /* every page of the user half */
void *paging_lookup(u64 root, u64 va); /* the page, in the direct map, or NULL */
extern u64 kernel_root;

/* stack.c: kernel stacks with an unmapped page below each */
u64 stack_new(int slot); /* the top; a slot keeps its pages for ever */

/* trap.c, timer.c */
void trap_init(void);
void timer_init(void);
void timer_stop(void);

/* switch.S, thread.c */
struct thread;
void switch_context(u64 *old_sp, u64 new_sp);
void arch_switch(struct thread *next); /* stack for traps, page tables */
void thread_frame_kernel(struct thread *t, void (*fn)(void));
void thread_frame_user(struct thread *t, const struct trapframe *f);
void frame_user(struct trapframe *f, u64 pc, u64 sp, u64 arg);
void frame_result(struct trapframe *f, s64 result);

/*
 * cpu_start has the second CPU call fn, with interrupts disabled, on a stack of its own; when fn
 * returns it is off again. false: there is none.
 */
bool cpu_start(void (*fn)(void));

/* copy_user.S: bytes that could not be copied */
u64 copy_user(void *to, const void *from, u64 n);

/* power.c */
void arch_reboot(void) noreturn;
void arch_triple_fault(void) noreturn; /* or the nearest thing to it */
