/* user.h: what the user programs share. They run in ring 3. */
#pragma once

#include "../uapi.h"
#include "user_call.h"

/* ---- ../string.c, ../format.c ---- */

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
void strcopy(char *to, const char *from, size_t size);
int format(char *buf, size_t size, const char *fmt, va_list args);

/* ---- lib.c ---- */

static inline s64 call0(u64 number)
{
	return system_call(number, 0, 0, 0);
}

static inline s64 call1(u64 number, u64 a)
{
	return system_call(number, a, 0, 0);
}

static inline s64 call2(u64 number, u64 a, u64 b)
{
	return system_call(number, a, b, 0);
}

void exit(int status) noreturn;
s64 read(int fd, void *buf, u64 n);
s64 write(int fd, const void *buf, u64 n);
int print(int fd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
u64 number(const char *s, u64 otherwise); /* NULL or not a number: otherwise */

/* ---- sh.c ---- */

int shell(const char *line);

/* ---- programs.c, work.c ---- */

struct program {
	const char *name;
	int (*main)(int argc, char **argv);
	const char *help;
};

extern const struct program programs[]; /* the last has no name */

int work_forks(int argc, char **argv);
int work_calls(int argc, char **argv);
int work_spin(int argc, char **argv);
int work_pipe(int argc, char **argv);
int work_memory(int argc, char **argv);
int work_read_bad(int argc, char **argv);
int work_fault(int argc, char **argv);

/* ---- ../<arch>/user_fault.c ---- */

struct fault_kind {
	const char *name;
	void (*run)(void);
};

extern const struct fault_kind fault_kinds[];
