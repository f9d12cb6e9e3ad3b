// A module as far as package kernel is concerned: sections by themselves, and symbols.
int outside(int);
static int zeroed;
int value = 7;
int *const pointer = &value;

__attribute__((noinline)) static int helper(int n) { return n + value + zeroed++; }

int work(int n) { return helper(n) + outside(n); }

__attribute__((section(".init.text"))) static int start(void) { return work(1); }
int init_module(void) __attribute__((alias("start")));

__attribute__((used, section(".modinfo"))) static const char info[] = "license=GPL\0name=test_module\0vermagic=6.1.0 SMP ";
__attribute__((used, section(".gnu.linkonce.this_module"))) static char this_module[64];
