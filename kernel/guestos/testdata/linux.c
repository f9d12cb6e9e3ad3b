// Each of three compilers, with flags for all:
//   -O1 -fno-toplevel-reorder -gbtf -ffreestanding -fno-pie -no-pie -fno-asynchronous-unwind-tables -nostdlib -static -Wl,-z,noexecstack -Wl,--build-id=none -Wl,-T,linux.ld -Wl,-z,max-page-size=4096
// gcc -mcmodel=kernel -mno-red-zone -fcf-protection=none -o linux-amd64.elf linux.c
// aarch64-linux-gnu-gcc -mgeneral-regs-only -o linux-arm64.elf linux.c
// riscv64-linux-gnu-gcc -mcmodel=medany -march=rv64imac -mabi=lp64 -o linux-riscv64.elf linux.c
//
// As much of a Linux kernel as it takes to be known for one: names, types, tables.

typedef unsigned int u32;
typedef unsigned long u64;

const char linux_banner[] = "Linux version 6.1.0-test\n";

struct cred {
	u64 usage;
	struct { u32 val; } uid;
	struct { u32 val; } gid;
};

struct task_struct {
	u64 state;
	struct { // as layout randomization makes it
		int pid;
		int tgid;
		struct task_struct *real_parent;
	};
	u64 unrelated[4];
	u64 start_time;
	const struct cred *cred;
	char comm[16];
};

struct orc_entry {
	short sp_offset, bp_offset;
	unsigned sp_reg : 4, bp_reg : 4, type : 2, end : 1;
} __attribute__((packed));

struct cred init_cred;
struct task_struct init_task = { .comm = "swapper", .cred = &init_cred, .real_parent = &init_task };

#ifdef __aarch64__
struct task_struct *__entry_task; // CPU 0's: the linker puts the area of the others elsewhere
#elif defined __x86_64__
__attribute__((section(".data..percpu"))) u64 fixed[4];
__attribute__((section(".data..percpu"))) u64 this_cpu_off;
__attribute__((section(".data..percpu"))) struct task_struct *current_task = &init_task;
#endif

int normal(int x) { return x + 1; }
#ifdef __riscv
int handle_exception(int x) { return x + 5; }
#endif
int forbidden(int x) { return x + 2; }
__attribute__((section(".noinstr.text"))) int noinstr(int x) { return x + 3; }
__attribute__((section(".entry.text"))) int entry(int x) { return x + 4; }
#ifdef __aarch64__
__attribute__((section(".entry.text"))) int el1h_64_irq(int x) { return x + 5; }
#endif

__attribute__((section("_kprobe_blacklist"), used)) static u64 blacklist = (u64)forbidden;

#ifdef __x86_64__
// One entry for each function: sp+8, call.
__asm__(".pushsection .orc_unwind_ip, \"a\"\n"
	".long normal - .\n"
	".long forbidden - .\n"
	".popsection\n");
__attribute__((section(".orc_unwind"), used)) static const struct orc_entry orc[2] = {
	{ 8, 0, 5, 0, 0, 0 }, { 8, 0, 5, 0, 0, 0 },
};
#endif
