// Memory of the host for a machine: reserved and filled on demand, or near to translated code.
#define _GNU_SOURCE 1
#include "shim.h"

#include <stdlib.h>
#include <sys/mman.h>

// Zeroed memory, NULL if there is none.
void *tl_reserve(uint64_t size) {
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return NULL;
  madvise(p, size, MADV_HUGEPAGE); // fewer TLB misses of the host; not having them is no error
  return p;
}

void tl_release(void *p, uint64_t size) {
  if (p)
    munmap(p, size);
}

// Returns a mapping within 32-bit reach of place, or NULL if there is no room.
void *tl_map_near(const void *place, size_t size, int prot) {
  enum { STRIDE = 1 << 20, REACH = INT32_MAX - STRIDE };
  uint8_t *base = (uint8_t *)((uintptr_t)place & ~(uintptr_t)(STRIDE - 1)); // of a page, on any host
  for (intptr_t away = STRIDE; away + (intptr_t)size < REACH; away += STRIDE)
    for (int side = 0; side < 2; side++) {
      uint8_t *hint = side ? base + away : base - away;
      void *p = mmap(hint, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
      if (p == hint)
        return p;
      if (p != MAP_FAILED)
        munmap(p, size);
    }
  return NULL;
}

// Zeroed memory that code can name from place on, by 32 bits; NULL if there is none. Between the
// guest's memory and buffers of code there may be no room for a mapping, but what is allocated
// just after place is mostly near it anyway.
void *tl_alloc_near(const void *place, size_t size, bool *mapped) {
  enum { REACH = INT32_MAX - (1 << 20) };
  const uint8_t *base = place;
  uint8_t *allocated = calloc(1, size);
  *mapped = false;
  if (allocated && allocated - base < REACH && base - allocated < REACH)
    return allocated;
  free(allocated);
  *mapped = true;
  return tl_map_near(place, size, PROT_READ | PROT_WRITE);
}

void tl_free_near(void *p, size_t size, bool mapped) {
  if (mapped)
    munmap(p, size);
  else
    free(p);
}
