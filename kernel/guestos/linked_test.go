package guestos

import (
	"testing"

	"trapline/kernel/arch"
)

// putThreads stores a running thread and its parent.
func putThreads(mem fakeMem) {
	putTask(mem, taskAddr, 42, 41, parent, 1e9, "bash")
	putTask(mem, parent, 1, 1, 0, 5, "init")
	mem.stack(credAddr, 1, 1000|100<<32)
}

// On arm64 and riscv64 the current thread is in a register, or in another.
func TestLinkedLinuxThread(t *testing.T) {
	const (
		text  = 0xffffffff81000000
		entry = text + 0x18 // in .entry.text, as in linux-arm64.elf
		other = 0x10000     // TPIDR_EL1 of a CPU that is not the first
		user  = 0x7fff0000
		slide = 0x200000
	)
	entryTask := symbol(t, openImage(t, "testdata/linux-arm64.elf"), "__entry_task") + slide
	for _, tt := range []struct {
		name  string
		image string
		regs  fakeRegs
		words map[uint64]uint64
		want  string
	}{
		{"arm64, in the kernel", "arm64",
			fakeRegs{arch.ARM64PC: text + slide, arch.ARM64PSTATE: 5, arch.ARM64SP_EL0: taskAddr, arch.ARM64TPIDR: other},
			map[uint64]uint64{entryTask + other: parent}, "bash"},
		{"arm64, entry", "arm64",
			fakeRegs{arch.ARM64PC: entry + slide, arch.ARM64PSTATE: 5, arch.ARM64SP_EL0: user, arch.ARM64TPIDR: other},
			map[uint64]uint64{entryTask + other: taskAddr}, "bash"},
		{"arm64, entry, with a stack pointer that lies", "arm64",
			fakeRegs{arch.ARM64PC: entry + slide, arch.ARM64PSTATE: 5, arch.ARM64SP_EL0: parent, arch.ARM64TPIDR: other},
			map[uint64]uint64{entryTask + other: taskAddr}, "bash"},
		{"arm64, entry before the first switch", "arm64",
			fakeRegs{arch.ARM64PC: entry + slide, arch.ARM64PSTATE: 5, arch.ARM64SP_EL0: taskAddr},
			map[uint64]uint64{entryTask: 0}, "bash"},
		{"arm64, user", "arm64",
			fakeRegs{arch.ARM64PC: 0x400000, arch.ARM64SP_EL0: user},
			map[uint64]uint64{entryTask: taskAddr}, "bash"},
		{"arm64, at the start", "arm64",
			fakeRegs{arch.ARM64PC: 0x40000000, arch.ARM64PSTATE: 0x3c5}, nil, "swapper"},
		{"riscv64, in the kernel", "riscv64",
			fakeRegs{arch.RISCV64PRIV: 1, arch.RISCV64TP: taskAddr}, nil, "bash"},
		{"riscv64, user", "riscv64",
			fakeRegs{arch.RISCV64TP: user, arch.RISCV64SSCRATCH: taskAddr}, nil, "bash"},
		{"riscv64, user with a thread pointer that lies", "riscv64",
			fakeRegs{arch.RISCV64TP: parent, arch.RISCV64SSCRATCH: taskAddr}, nil, "bash"},
		{"riscv64, first instruction", "riscv64",
			fakeRegs{arch.RISCV64PRIV: 1, arch.RISCV64PC: text, arch.RISCV64STVEC: text, arch.RISCV64TP: parent, arch.RISCV64SSCRATCH: taskAddr},
			nil, "bash"},
		{"riscv64, second instruction, from the user", "riscv64",
			fakeRegs{arch.RISCV64PRIV: 1, arch.RISCV64PC: text + 4, arch.RISCV64STVEC: text, arch.RISCV64TP: taskAddr, arch.RISCV64SSCRATCH: user},
			nil, "bash"},
		{"riscv64, second instruction, from the kernel", "riscv64",
			fakeRegs{arch.RISCV64PRIV: 1, arch.RISCV64PC: text + 4, arch.RISCV64STVEC: text, arch.RISCV64SSCRATCH: taskAddr},
			nil, "bash"},
		{"riscv64, on the way out", "riscv64",
			fakeRegs{arch.RISCV64PRIV: 1, arch.RISCV64TP: user, arch.RISCV64SSCRATCH: taskAddr}, nil, "bash"},
		{"riscv64, at the start", "riscv64",
			fakeRegs{arch.RISCV64PRIV: 1, arch.RISCV64PC: 0x80200000, arch.RISCV64TP: 0x80801000}, nil, "swapper"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			img := openImage(t, "testdata/linux-"+tt.image+".elf")
			guest := detect(t, img)
			img.SetSlide(slide)
			mem := fakeMem(tt.words)
			if mem == nil {
				mem = fakeMem{}
			}
			putThreads(mem)
			if got, err := guest.Thread(mem, tt.regs); err != nil || got.Execname != tt.want {
				t.Errorf("Thread = %+v, %v; want %s", got, err, tt.want)
			}
			if n := testing.AllocsPerRun(10, func() { guest.Thread(mem, tt.regs) }); n != 0 && tt.want == "bash" {
				t.Errorf("%v allocations", n)
			}
		})
	}
}
