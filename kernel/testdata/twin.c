// Part of kernel-amd64.elf; kernel.c has the command.

static __attribute__((noinline, used)) int twin(int x) { return x - 1; }

int other(int x) { return twin(x) ^ 5; }
