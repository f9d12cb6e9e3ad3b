/*
 * machine.h: what the files of this folder give to one another. A file here takes the
 * place of one of the same name in the folders that this kernel shares with riscv64.
 */
#pragma once

#define USER_IMAGE_MAX 0x20000 /* bytes of the user programs */

/* struct machine_area: what the trap handler of machine mode finds by mscratch */
#define AREA_COMPARE 24
#define AREA_INTERVAL 32

#define INTERRUPT_SOFTWARE 1 /* of the supervisor, and likewise the next two */
#define INTERRUPT_TIMER 5
#define INTERRUPT_EXTERNAL 9
#define MACHINE_TIMER 7

#define MSTATUS_MPP_SUPERVISOR 0x800
#define MSTATUS_MPP 0x1800

#ifndef __ASSEMBLER__
#include "../virt/virt.h"

/* ---- machine.c, in machine mode ---- */

extern bool clint_ticks; /* the machine's timer makes the ticks, not the supervisor's */

u64 timer_interval(void); /* of the time counter, from one tick to the next */

/* ---- plic.c ---- */

void plic_open(u32 input, void (*handler)(void)); /* enables an input */
void plic_interrupt(void);

/* ---- disk.c ---- */

bool disk_open(void);                            /* false: there is no disk */
bool disk_read(u64 sector, void *to, u32 count); /* sectors into the kernel's image */

/* ---- console.c ---- */

void console_open(void);
void console_line(char *line, u32 size); /* waits for a line, without its end */
#endif
