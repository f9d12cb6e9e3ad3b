/*
 * kernel.h: what each file of the common part gives to the others.
 * What an architecture gives is in arch.h.
 *
 * There is one CPU, and one lock: the interrupt flag. Code between irq_save()
 * and irq_restore() cannot be preempted, all other kernel code can. (A second
 * CPU is for cpus.c alone, and brings locks with it.)
 */
#pragma once

#include "arch.h"
#include "list.h"
#include "types.h"
#include "uapi.h"

/* ---- main.c: the order in which the kernel starts ---- */

extern const char tiny_banner[];
extern char boot_line[1024]; /* the kernel command line */

/* boot_option copies the value of `name=value` or `name="a value"`. */
bool boot_option(const char *name, char *value, size_t size);

/* ---- format.c, string.c ---- */

int format(char *buf, size_t size, const char *fmt, va_list args);
int print_to(char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
void strcopy(char *to, const char *from, size_t size); /* always ends in 0 */

/* ---- log.c: the kernel log on the console, and the ends of the machine ---- */

void klog(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void panic(const char *fmt, ...) __attribute__((format(printf, 1, 2), cold)) noreturn;
void power_off(void) noreturn;
extern bool panicking; /* a CPU has panicked, the others are to stop */

/* ---- page.c: physical pages ---- */

void page_add(u64 start, u64 end); /* physical addresses of free memory */
void *page_alloc(void);            /* a page of zeros, panics when there is none */
void page_free(void *page);
u64 page_total(void);              /* KiB of memory handed over by page_add */

/* ---- sched.c: threads ---- */

enum thread_state { UNUSED, NEW, RUNNABLE, BLOCKED, DEAD };

/* A tracer reads the fields up to name by these offsets. */
struct thread {
	u64 id;        /* unique, never used again, never 0 */
	s32 pid;       /* of the process */
	s32 tid;       /* of the thread, equal to pid in the first one */
	s32 ppid;      /* of the process that made this one */
	u32 uid, gid;
	char name[16];
	enum thread_state state;
	struct process *process;
	u64 sp;          /* kernel stack pointer while it does not run */
	u64 stack_top;   /* of the kernel stack */
	u64 wake_at;     /* tick, while on the sleepers' list */
	struct list node; /* run queue, wait queue, sleepers or the dead */
};

_Static_assert(offsetof(struct thread, pid) == 8, "tracer ABI");
_Static_assert(offsetof(struct thread, tid) == 12, "tracer ABI");
_Static_assert(offsetof(struct thread, ppid) == 16, "tracer ABI");
_Static_assert(offsetof(struct thread, uid) == 20, "tracer ABI");
_Static_assert(offsetof(struct thread, gid) == 24, "tracer ABI");
_Static_assert(offsetof(struct thread, name) == 28, "tracer ABI");

#define THREADS_MAX 64

extern struct thread *current;
extern struct thread threads[THREADS_MAX];
extern u64 ticks; /* timer interrupts since boot, TICK_HZ a second */
extern bool need_resched;

#define TICK_HZ 100

struct wait_queue {
	struct list threads;
};

void sched_init(void);
struct thread *thread_new(struct process *p, const char *name);
struct thread *thread_kernel(const char *name, void (*fn)(void));
void thread_start(struct thread *t);
void thread_die(void) noreturn;
void schedule(void);           /* with interrupts disabled */
void yield(void);
void sleep_ticks(u64 n);
void wait_on(struct wait_queue *q); /* with interrupts disabled */
void wake_all(struct wait_queue *q);
void wake(struct thread *t);
void timer_tick(void);         /* from the timer interrupt */

/* ---- process.c: processes ---- */

enum file_kind { FILE_NONE, FILE_NULL, FILE_OUT, FILE_ERR, FILE_PIPE_READ, FILE_PIPE_WRITE };

struct file {
	enum file_kind kind;
	struct pipe *pipe;
};

#define FILES_MAX 8
#define PROCESSES_MAX 48

struct process {
	s32 pid; /* 0: unused */
	struct process *parent;
	u32 uid, gid;
	u64 root;    /* physical address of the page tables */
	u64 brk;
	int threads; /* still alive */
	bool dying;  /* its threads end before they return to user mode */
	bool zombie; /* waits to be waited for */
	int status;
	struct file files[FILES_MAX];
	struct wait_queue children; /* where the parent waits */
};

extern struct process kernel_process;

s32 pid_next(void);
struct process *process_spawn(const char *line);
s64 process_fork(struct trapframe *f);
s64 process_thread(u64 entry, u64 stack, u64 arg);
s64 process_wait(int *status);
void process_exit(int status) noreturn; /* the calling thread */
void process_kill(int signal);          /* the whole process of current */
void user_return(void);                 /* before a return to user mode */

/* ---- vm.c: the user half of the address space ---- */

bool vm_fault(struct process *p, u64 addr, bool write);
void vm_poke(struct process *p, u64 addr, const void *data, u64 n);
u64 vm_entry(void);   /* where a program begins */
u64 vm_heap(void);    /* where its heap begins */
bool user_range(u64 addr, u64 n);
bool copy_from_user(void *to, u64 from, u64 n); /* false: bad address */
bool copy_to_user(u64 to, const void *from, u64 n);
bool string_from_user(char *to, u64 from, u64 size);

/* ---- pipe.c, file.c ---- */

struct pipe *pipe_new(void);
void pipe_hold(struct pipe *p, bool writer);
void pipe_drop(struct pipe *p, bool writer);
s64 pipe_read(struct pipe *p, char *buf, u64 n);
s64 pipe_write(struct pipe *p, const char *buf, u64 n);

s64 file_read(int fd, u64 buf, u64 n);
s64 file_write(int fd, u64 buf, u64 n);
s64 file_pipe(u64 fds);
s64 file_dup(int from, int to);
s64 file_close(int fd);
void files_copy(struct process *to, struct process *from);
void files_close(struct process *p);

/* ---- syscall.c ---- */

void syscall(struct trapframe *f);

/* ---- fault.c: faults in the kernel that somebody expected ---- */

/*
 * The exception table says where to go on when the instruction at pc faults;
 * the bug table names the places of deliberate illegal instructions.
 */
struct exception_entry {
	u64 pc, fixup;
};

struct bug_entry {
	u64 pc;
	const char *text;
};

u64 exception_fixup(u64 pc); /* 0: none */
const char *bug_text(u64 pc); /* NULL: none */

/* deliberate traps so far: ud2, int3, int and the like */
extern u32 bug_count, breakpoint_count, software_count;

/* ---- check.c, shapes.c: the kernel's own checks ---- */

struct check {
	const char *name;
	int (*run)(void); /* 0, or the step that failed */
};

const struct check *check_at(u64 group, u64 index); /* NULL: no such */

/* CHECK_SHAPE puts int shape_NAME(void) in the table. */
#define CHECK_SHAPE(name) \
	static const struct check check_##name \
	__attribute__((used, no_reorder, section(".check.shapes"))) = { #name, shape_##name }

/* ---- channel.c: frames on the second serial port ---- */

bool channel_open(void);
void channel_send(char type, const void *data, u32 n);
bool channel_command(char *line, u32 size, u64 timeout_ticks);

/* ---- command.c: the command line to run, and what comes of it ---- */

extern char command[4096];
void command_get(void);
u8 command_run(const char *line); /* the status of the shell */
void command_end(u8 status) noreturn;
void output(char stream, const char *data, u32 n); /* 'O' or 'E' */

/* ---- init.c: the first thread ---- */

void init_thread(void);

/* ---- cpus.c: two CPUs at work ---- */

struct lock {
	u32 taken;
};

bool cpus_run(void (*run)(int cpu)); /* run(0) and run(1), each on a CPU; false: there is only one */
void lock(struct lock *l);
void unlock(struct lock *l);
void cpu_spin(void); /* in a loop that waits for another CPU */

/* ---- race.c: what can go wrong between two CPUs ---- */

s64 race(u64 which); /* what is missing at its end, or an error */

/* ---- probe.c: static probes for tests ---- */

void probe_fire(u64 n);
