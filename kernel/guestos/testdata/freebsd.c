// Each of three compilers, with flags for all:
//   -O1 -g -gz=none -fno-toplevel-reorder -ffreestanding -fno-pie -no-pie -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -nostdlib -static -Wl,-z,noexecstack -Wl,--build-id=none -Wl,-T,linux.ld -Wl,-z,max-page-size=4096 -ffile-prefix-map=$PWD=.
// gcc -mcmodel=kernel -mno-red-zone -fcf-protection=none -o freebsd-amd64.elf freebsd.c
// aarch64-linux-gnu-gcc -mgeneral-regs-only -o freebsd-arm64.elf freebsd.c
// riscv64-linux-gnu-gcc -mcmodel=medany -march=rv64imac -mabi=lp64 -o freebsd-riscv64.elf freebsd.c
//
// As much of a FreeBSD kernel as it takes to be known for one: names, types, an entry.

typedef unsigned int u32;
typedef long s64;
typedef unsigned long u64;

const char version[] = "FreeBSD 15.0-TEST\n";

struct timeval { s64 tv_sec, tv_usec; };
struct pstats { u64 unrelated[2]; struct timeval p_start; };
struct ucred { u32 cr_ref, cr_uid, cr_ruid, cr_gid; };
struct pargs { u32 ar_ref, ar_length; unsigned char ar_args[1]; };

struct trapframe {
#ifdef __x86_64__
	s64 tf_rdi, tf_rbp;
	u32 tf_trapno;
	s64 tf_rip, tf_cs, tf_rsp;
#elif defined(__aarch64__)
	u64 tf_sp, tf_lr, tf_elr, tf_spsr, tf_x[30];
#else
	u64 tf_ra, tf_sp, tf_gp, tf_tp, tf_t[7], tf_s[12], tf_a[8], tf_sepc, tf_sstatus;
#endif
};

struct proc {
	struct ucred *p_ucred;
	struct pstats *p_stats;
	int p_flag;
	int p_pid;
	struct proc *p_pptr;
	u64 unrelated[8];
	char p_comm[20];
	struct pargs *p_args;
};

struct thread {
	u64 td_lock;
	struct proc *td_proc;
	int td_tid;
	struct ucred *td_ucred;
	struct trapframe *td_frame;
	int td_ast;
	struct { struct { u32 bits[4]; } sq_signals, sq_kill; } td_sigqueue;
};
enum { TDA_AST, TDA_OWEUPC, TDA_SIG = 15 } tda;

struct pcpu {
	struct thread *pc_curthread;
	struct pcpu *pc_prvspace;
};

struct linker_file {
	int refs;
	struct { struct linker_file *tqe_next, **tqe_prev; } link;
	char *filename;
	char *address;
};
struct linker_file *linker_files;

#ifdef __x86_64__
typedef struct { void *addr; u64 size; char *name; } Elf_progent;
typedef struct elf_file { struct linker_file lf; Elf_progent *progtab; u32 nprogtab; } *elf_file_t;
__attribute__((noinline)) void link_elf_protect_range(elf_file_t ef) { ef->nprogtab = 0; }
#endif
void linker_file_register_modules(struct linker_file *lf) { linker_files = lf; }
void link_elf_unload_file(struct linker_file *lf) { linker_files = lf->link.tqe_next; }

struct proc proc0;
struct thread thread0_st = {0, &proc0};
#ifdef __x86_64__
struct pcpu *__pcpu;
#else
struct pcpu __pcpu[2];
#endif
struct ucred cred0;
struct pstats stats0;
struct pargs args0;
struct trapframe *frame;

__attribute__((noinline)) int leaf(int x) { return x + thread0_st.td_tid; }
__attribute__((noinline)) void mi_startup(void) { proc0.p_pid = leaf(1) + leaf(2); }
void trap(struct trapframe *f) { frame = f; mi_startup(); proc0.p_flag++; }

#ifdef __x86_64__
asm(".text; .type calltrap, @function; calltrap: mov %rsp,%rdi; call trap; nop; iretq");
asm(".type fast_syscall_common, @function; fast_syscall_common: call mi_startup; nop; sysretq");
#elif defined(__aarch64__)
asm(".text; .type handle_el1h_sync, %function; handle_el1h_sync: add x29, sp, #272; mov x0, sp; bl trap; nop; eret; .size handle_el1h_sync, .-handle_el1h_sync");
#else
asm(".text; .type cpu_exception_handler_supervisor, %function; cpu_exception_handler_supervisor: mv a0, sp; call trap; nop; sret; .size cpu_exception_handler_supervisor, .-cpu_exception_handler_supervisor");
asm(".type cpu_exception_handler_user, %function; cpu_exception_handler_user: nop; nop; sret; .size cpu_exception_handler_user, .-cpu_exception_handler_user");
#endif
