// Each of three compilers, with flags for all:
//   -O2 -g0 -fno-omit-frame-pointer -ffreestanding -fno-pie -no-pie -fno-asynchronous-unwind-tables -nostdlib -static -Wl,-z,noexecstack -Wl,--build-id=none -Wl,-e,leaf -Wl,-z,max-page-size=4096 -Wl,-z,norelro
// gcc -mcmodel=kernel -mno-red-zone -fcf-protection=branch -Wl,-Ttext=0xffffffff81000000 -o tiny-amd64.elf tiny.c
// aarch64-linux-gnu-gcc -mgeneral-regs-only -Wl,-Ttext=0xffff800008000000 -o tiny-arm64.elf tiny.c
// riscv64-linux-gnu-gcc -mcmodel=medany -march=rv64imac -mabi=lp64 -Wl,-Ttext=0xffffffff80200000 -o tiny-riscv64.elf tiny.c
//
// The names by which a tiny kernel is known, and functions with frame pointers.

const char tiny_banner[] = "tiny kernel, a test";
void *current;

// The first needs no frame, the second makes one and the third makes it late, or not.
__attribute__((noinline)) int plain(int x) { return x + 1; }
__attribute__((noinline)) int leaf(int x) { return x + plain(x); }
__attribute__((noinline)) int late(int *x) { return x ? *x + leaf(*x) : 0; }
