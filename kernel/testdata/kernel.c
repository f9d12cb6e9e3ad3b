// gcc -O1 -g0 -ffreestanding -fno-pie -no-pie -mcmodel=kernel -mno-red-zone -fcf-protection=none -fno-asynchronous-unwind-tables -nostdlib -static -Wl,--build-id=sha1 -Wl,-T,kernel.ld -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack -o kernel-amd64.elf kernel.c twin.c
//
// Symbols of every shape that a kernel image has, and nothing that runs.

const char linux_banner[] = "Linux version 6.1.0-test (someone@example.org) #1\n";

// Two local functions share the name "twin"; the other is in twin.c.
static __attribute__((noinline, used)) int twin(int x) { return x + 1; }

int one(int x) { return twin(x); }
extern int other(int x);

// Global, weak and local names for one function.
int copy_bytes(int x) { return other(x) * 3; }
extern int copy(int x) __attribute__((weak, alias("copy_bytes")));
static int copy_local(int x) __attribute__((used, alias("copy_bytes")));

__attribute__((section(".init.text"))) int setup(void) { return one(2); }

int table[4] = {1, 2, 3, 4};
int zeroes[64];
__attribute__((section(".data..percpu"))) void *current_task = zeroes;

__asm__(".text\n"
	".globl entry, entry_inner, __entry_text_start, sizeless, last\n"
	".balign 16\n"
	"__entry_text_start:\n"
	".balign 16\n"
	"	nop\n"
	".balign 16\n"
	"entry:\n" // a label with a size and no type, as SYM_CODE_START makes them
	"	nop\n"
	"	nop\n"
	"entry_inner:\n" // a label inside it
	"	nop\n"
	"entry_more:\n"
	"	iretq\n"
	".size entry, . - entry\n"
	".balign 16\n"
	"sizeless:\n" // labels with no size at all
	"	nop\n"
	"	ret\n"
	"last:\n"
	"	ret\n"
	".globl absolute\n"
	"absolute = 0x1234\n");
