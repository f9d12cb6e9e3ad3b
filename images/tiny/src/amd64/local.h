/* local.h: what the files of this folder give to one another. */
#pragma once

#include "../kernel.h"

void tss_set_stack(u64 sp);      /* segment.c: for traps from user mode */
void timer_interrupt(u64 irq);   /* timer.c: any line of the i8259 pair */
