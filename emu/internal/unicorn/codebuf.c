// The buffer of translated code: its size, its first overflow, and what in translated
// code would let host time or an exit request in.
//
// Quirks of 2.0.1 that are answered here:
//  - The library asks for 1 GiB; a machine says how much it wants.
//  - The first time the buffer is full, region 0 is handed out again without a flush and
//    the guest runs wrong code. The sign is that the very first block is allocated
//    again; answering NULL makes the caller flush, as it does at later overflows.
//  - An exit requested in the middle of a block restarts it and repeats its side effects.
//    Nothing of ours requests one there, so the check is not translated at all (replaced.h).
//  - The size of the TLB follows gettimeofday, so the guest's Accessed bits would follow
//    the host's clock, and cycle counters do (arm64's at every exception). While a guest runs,
//    both are the guest's.
#define _GNU_SOURCE 1
#include "library.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

void tl_codebuf_make(void *uc, unsigned long size) {
  struct tl_cpu *c = tl_current();
  if (!c) {
    tl_lib.exec_init(uc, size);
    return;
  }
  c->buffer.making = true;
  tl_lib.exec_init(uc, c->buffer.size ? c->buffer.size : size);
  c->buffer.making = false;
}

// The library's and ours. Its buffer is to be near its functions: then code calls them directly, and
// is the same in the next process but for how far they are away (kept.c).
void *mmap64(void *addr, size_t size, int prot, int flags, int fd, off64_t offset) {
  struct tl_cpu *c = tl_current();
  if (c && c->buffer.making && (prot & PROT_EXEC)) {
    c->buffer.making = false;
    void *p = tl_map_near((void *)tl_lib.exec_init, size, prot);
    if (p)
      return p;
  }
  return (void *)syscall(SYS_mmap, addr, size, prot, flags, fd, offset);
}

// A block has been allocated. NULL makes the library flush the buffer.
void *tl_codebuf_first(void *tcg, void *tb) {
  struct tl_cpu *c = tl_current();
  if (!c)
    return tb;
  c->buffer.tcg = tcg;
  if (!c->buffer.first)
    c->buffer.first = tb;
  else if (tb == c->buffer.first && !c->buffer.flushed)
    return NULL;
  return tb;
}

void tl_codebuf_flushed(struct tl_cpu *c) {
  if (!c)
    return;
  c->buffer.flushed = true;
  c->buffer.flushes++;
  tl_no_code(c);
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz) {
  struct tl_cpu *c = tl_current();
  struct timespec t;
  (void)tz;
  if (c) {
    tv->tv_sec = c->clock.ns / 1000000000;
    tv->tv_usec = c->clock.ns / 1000 % 1000000;
    return 0;
  }
  clock_gettime(CLOCK_REALTIME, &t);
  tv->tv_sec = t.tv_sec;
  tv->tv_usec = t.tv_nsec / 1000;
  return 0;
}

// The library's name of what its devices and counters call time.
int64_t qemu_clock_get_ns(int type) {
  struct tl_cpu *c = tl_current();
  (void)type;
  return c ? (int64_t)c->clock.ns : 0;
}
