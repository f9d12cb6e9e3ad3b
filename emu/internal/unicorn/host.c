// What the CPU of the host can do. Where that is something else, the library generates other code.
#include "host.h"

#if TL_HOST_KEEPS
#include <cpuid.h>
#include <stdio.h>

void tl_host_features(char *text) {
  unsigned a, b, c1 = 0, d1 = 0, b7 = 0, c8 = 0, rest;
  __get_cpuid(1, &a, &b, &c1, &d1);
  __get_cpuid_count(7, 0, &a, &b7, &rest, &b);
  __get_cpuid(0x80000001, &a, &b, &c8, &rest);
  snprintf(text, TL_HOST_FEATURES, " %x %x %x %x", c1, d1, b7, c8);
}

#else

void tl_host_features(char *text) { *text = 0; }

#endif
