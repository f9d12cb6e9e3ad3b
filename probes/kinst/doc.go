// Package kinst is the provider of probes on any instruction of the kernel.
//
//	kinst:<module>:<function>:          every instruction of the function
//	kinst:<module>:<function>:<offset>  the one at that many bytes from its start, decimal
//	...:<offset>-taken, -nottaken       a conditional jump, when it jumps and when it does not
//
// The function may be a glob; then an offset picks those functions that have an
// instruction there. A name that several functions share means all of them. The module
// is the kernel proper, "vmlinux" or "kernel". Probes are made when the provider is
// asked for by name: `kinst:::` alone makes none.
//
// What cannot be traced is refused by the trampoline (it cannot displace the
// instruction) or by the Policy. Asked for alone it is an error; within a whole function
// it is skipped and counted for Report.
package kinst
