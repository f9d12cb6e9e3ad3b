// What is global to the process: one machine is open at a time, and its library is one for all. The
// library's functions get no pointer of ours, so that a CPU is found here by what they do get.
//
// Besides, there are the tables of the library's functions (tl_lib, tl_ARCH_lib), which are filled in
// when a machine is opened.
#include "shim.h"

#include <stdarg.h>
#include <stdio.h>

static struct tl_process {
  struct tl_cpu *cpus[TL_CPUS]; // of the machine that is open
  char message[256];            // of tl_message
} process;

static __thread struct tl_cpu *current; // the one that this thread opens or runs

#define FIND(field, pointer)                                          \
  do {                                                                \
    for (int i = 0; i < TL_CPUS && process.cpus[i]; i++)              \
      if ((const void *)process.cpus[i]->field == (pointer))          \
        return process.cpus[i];                                       \
    return NULL;                                                      \
  } while (0)

struct tl_cpu *tl_by_cs(const void *cs) { FIND(cs, cs); }
struct tl_cpu *tl_by_env(const void *env) { FIND(env, env); }
struct tl_cpu *tl_by_uc(const void *uc) { FIND(uc, uc); }
struct tl_cpu *tl_current(void) { return current; }

// Make c, or none, the CPU of this thread. Returns the one that it was.
struct tl_cpu *tl_enter(struct tl_cpu *c) {
  struct tl_cpu *before = current;
  current = c;
  return before;
}

// c, or none any more, is the CPU of the open machine with this number.
void tl_register(unsigned id, struct tl_cpu *c) { process.cpus[id] = c; }

// Returns a text that is valid until the next.
const char *tl_message(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(process.message, sizeof process.message, format, args);
  va_end(args);
  return process.message;
}
