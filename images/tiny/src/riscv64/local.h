/* local.h: what the files of this folder give to one another. */
#pragma once

#include "../virt/virt.h"

void timer_interrupt(u64 interrupt); /* timer.c: any interrupt */
