/*
 * xv6 for RISC-V, of MIT's course 6.1810.
 *
 *	trapline dtrace -k kernel --os xv6-riscv.d --firmware none --memory 128M --disk fs.img ...
 *
 * A scheduler runs on the CPU's first stack, while the process that it has chosen is in cpus[] already.
 */
inline struct proc *curthread =
    regs[R_SP] - (uintptr_t)`stack0 < sizeof(`stack0) ? NULL : `cpus[cpu].proc;
inline int pid = curthread->pid;
inline int ppid = curthread->parent != NULL ? curthread->parent->pid : 0;
inline string execname = curthread->name;

/* Numbers of system calls are indexes of the table. Arguments lie where user registers are saved. */
inline string syscall_table = "syscalls";
inline string syscall_prefix = "sys_";
inline uint64_t syscall_arg[int n] = (&curthread->trapframe->a0)[n];

inline string switch_function = "swtch";
inline string panic_line = "panic: ";
