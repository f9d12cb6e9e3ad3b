/*
 * virt.h: what the kernels for QEMU's `virt` machines share: the device tree,
 * page tables whose entries an architecture describes in pte.h, kernel stacks.
 */
#pragma once

#include "../kernel.h"

/* ---- devicetree.c ---- */

/* A property; data is NULL if the node lacks it. */
struct dt_value {
	const void *data;
	u32 size;
};

/* A node with the properties that matter to us. */
struct dt_node {
	const char *name;
	struct dt_value compatible, status, reg, bootargs, frequency;
};

void dt_open(u64 pa);                        /* the physical address of the tree */
u64 dt_size(void);                           /* bytes; 0 if there is no tree */
bool dt_next(u32 *cursor, struct dt_node *n); /* from *cursor = 0 on; false: no more */
u32 dt_cell(const void *data);               /* 32 bits, high byte first */
u64 dt_address(const void *data);            /* two cells */

/* device_base is where a range of registers begins, of the index-th such device by address; 0: none. */
u64 device_base(const char *compatible, int index, int range);

/* ---- start.c ---- */

void start(u64 tree) noreturn; /* from boot.S: goes on with kmain */

/* ---- paging.c ---- */

void paging_boot(u64 *root);      /* the architecture's: the direct map */
void paging_set(u64 root);        /* the architecture's: user half of the CPU's tables */
u64 paging_root(void);            /* the architecture's: what was set */
