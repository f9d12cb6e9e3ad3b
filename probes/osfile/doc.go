// Package osfile reads what the user says of a kernel that trapline does not know, and makes an
// operating system of it. The file is in D: each inline with one of these names says what that is, in
// the kernel's own types.
//
//	inline struct proc *curthread = `cpus[cpu].proc;
//	inline int pid = curthread->pid;
//	inline string execname = curthread->name;
//	inline string syscall_table = "syscalls";
//
//	computed at each firing that asks    curthread thread_id pid tid ppid uid gid execname
//	at the entry of a system call        syscall_arg[int n]
//	once, of constants                   syscall_table syscall_prefix switch_function panic_line
//
// Others are helpers. An expression may use the registers (regs[R_SP]), the number of the CPU (cpu),
// variables of the kernel, and what the file has defined above it; syscall_arg the arguments of the
// function too (arg0).
//
//	file --syntax, check, compile--> a function for each name --vm, at a firing--> guestos.Thread
package osfile
