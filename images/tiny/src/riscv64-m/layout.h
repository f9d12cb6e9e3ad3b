/*
 * layout.h: the kernel image lies where it is loaded, in the lower half; the user
 * has what is below it.
 */
#pragma once

#define USER_STACK_TOP 0x80000000ul
#define KERNEL_FIRST 2 /* the kernel's first entry of a root table */
#define KERNEL_BASE 0
