/* layout.h: where the user half of an address space ends. */
#pragma once

#define USER_STACK_TOP 0x7ffffffff000ul
#define KERNEL_FIRST 256 /* the kernel's first entry of a root table */
