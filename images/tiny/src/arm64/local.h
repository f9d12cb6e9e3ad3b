/* local.h: what the files of this folder give to one another. */
#pragma once

#include "../virt/virt.h"

void timer_interrupt(void); /* timer.c: whatever the interrupt controller says */
