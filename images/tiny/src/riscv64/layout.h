/* layout.h: where the user half of an address space ends. */
#pragma once

#define USER_STACK_TOP 0x3ffffff000ul
#define KERNEL_FIRST 256 /* the kernel's first entry of a root table */
#define KERNEL_BASE 0xffffffff00000000 /* virtual = physical + KERNEL_BASE */
