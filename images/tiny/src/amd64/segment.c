/*
 * segment.c: the tables the CPU wants before it takes traps: segments (GDT),
 * stacks for traps (TSS), vectors (IDT), and the registers of SYSCALL.
 */
#include "local.h"

#define MSR_STAR 0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_FMASK 0xc0000084
#define MSR_GS_BASE 0xc0000101
#define MSR_KERNEL_GS_BASE 0xc0000102
#define FMASK_TF_IF_DF_NT_AC 0x44700

#define GATE_INTERRUPT 0x8e /* present, disables interrupts */
#define GATE_USER 0x60      /* `int` may reach it from user mode */
#define VECTOR_NMI 2
#define VECTOR_BREAKPOINT 3
#define VECTOR_DOUBLE_FAULT 8
#define VECTOR_MACHINE_CHECK 18

struct tss {
	u32 reserved0;
	u64 rsp[3];
	u64 reserved1;
	u64 ist[7];
	u64 reserved2;
	u16 reserved3, iomap;
} __attribute__((packed));

struct gate {
	u16 offset0, selector;
	u8 ist, type;
	u16 offset1;
	u32 offset2, reserved;
};

struct table_pointer {
	u16 limit;
	u64 base;
} __attribute__((packed));

struct cpu cpu0 = { .self = &cpu0 };
static struct tss tss = { .iomap = sizeof tss };
static struct gate idt[256];
static u8 fault_stack[2 * PAGE_SIZE] __attribute__((aligned(16)));
static u8 nmi_stack[PAGE_SIZE] __attribute__((aligned(16)));

/* null, unused, kernel code, kernel data, unused, user data, user code, TSS */
static u64 gdt[9] = {
	0, 0, 0x00af9b000000ffff, 0x00cf93000000ffff,
	0, 0x00cff3000000ffff, 0x00affb000000ffff,
};

extern char trap_vectors[], syscall_entry[];

void tss_set_stack(u64 sp)
{
	tss.rsp[0] = sp;
}

static void gdt_init(void)
{
	u64 base = (u64)&tss;
	struct table_pointer p = { sizeof gdt - 1, (u64)gdt };

	gdt[7] = (sizeof tss - 1) | (base & 0xffffff) << 16 | 0x89ul << 40 |
		 (base >> 24 & 0xff) << 56;
	gdt[8] = base >> 32;
	tss.ist[0] = (u64)fault_stack + sizeof fault_stack;
	tss.ist[1] = (u64)nmi_stack + sizeof nmi_stack;
	asm volatile("lgdt %0" : : "m"(p));
	asm volatile("mov %0, %%ss; mov %1, %%ds; mov %1, %%es; mov %1, %%fs; mov %1, %%gs"
		     : : "r"(KERNEL_DS), "r"(0));
	/* a far return sets %cs */
	asm volatile("pushq %0; lea 1f(%%rip), %%rax; pushq %%rax; lretq; 1:"
		     : : "i"(KERNEL_CS) : "rax", "memory");
	asm volatile("ltr %w0" : : "r"(TSS_SELECTOR));
}

static void idt_init(void)
{
	struct table_pointer p = { sizeof idt - 1, (u64)idt };

	for (int i = 0; i < 256; i++) {
		u64 stub = (u64)trap_vectors + 16 * i;

		idt[i] = (struct gate){
			.offset0 = stub, .selector = KERNEL_CS, .type = GATE_INTERRUPT,
			.offset1 = stub >> 16, .offset2 = stub >> 32,
		};
	}
	idt[VECTOR_BREAKPOINT].type |= GATE_USER;
	idt[VECTOR_DOUBLE_FAULT].ist = 1;
	idt[VECTOR_NMI].ist = 2;
	idt[VECTOR_MACHINE_CHECK].ist = 2;
	asm volatile("lidt %0" : : "m"(p));
}

void trap_init(void)
{
	gdt_init();
	idt_init();
	write_msr(MSR_GS_BASE, (u64)&cpu0);
	write_msr(MSR_KERNEL_GS_BASE, 0);
	write_msr(MSR_STAR, (u64)(USER_DS - 8) << 48 | (u64)KERNEL_CS << 32);
	write_msr(MSR_LSTAR, (u64)syscall_entry);
	write_msr(MSR_FMASK, FMASK_TF_IF_DF_NT_AC);
}
