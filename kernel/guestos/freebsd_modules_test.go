package guestos

import (
	"maps"
	"strings"
	"testing"

	"trapline/kernel"
	"trapline/kernel/arch"
)

// The list of files of a guest: the kernel, and a module.
const (
	fbsdKernelFile = 0xfffffe0003000000
	fbsdModuleFile = 0xfffffe0003001000
	fbsdStrings    = 0xfffffe0003002000
	fbsdPieces     = 0xfffffe0003003000
	fbsdModuleBase = 0xffffffff82000000
)

func fbsdFiles(t testing.TB, img *kernel.Image) fakeMem {
	mem := fakeMem{}
	mem.stack(symbol(t, img, "linker_files"), fbsdKernelFile)
	mem.stack(fbsdKernelFile, 1, fbsdModuleFile, 0, fbsdStrings, 0xffffffff80200000, 0, 0)
	mem.stack(fbsdModuleFile, 1, 0, 0, fbsdStrings+32, fbsdModuleBase, fbsdPieces, 2)
	mem.put(fbsdStrings, append([]byte("kernel"), make([]byte, 26)...))
	mem.put(fbsdStrings+32, append([]byte("/boot/kernel/if_tap.ko"), make([]byte, 64)...))
	mem.put(fbsdStrings+160, append([]byte(".text"), make([]byte, 64)...))
	mem.put(fbsdStrings+240, append([]byte(".data"), make([]byte, 64)...))
	mem.stack(fbsdPieces, fbsdModuleBase, 0x100, fbsdStrings+160, fbsdModuleBase+0x1000, 0x40, fbsdStrings+240)
	return mem
}

// TestFreeBSDModules: relocatable modules have sections, shared objects a base.
func TestFreeBSDModules(t *testing.T) {
	eachFreeBSD(t, func(t *testing.T, img *kernel.Image, f *freebsd) {
		if e, err := f.ModuleEvents(); err != nil || e != freebsdModuleEvents {
			t.Errorf("events %+v, %v", e, err)
		}
		mem := fbsdFiles(t, img)
		all, err := f.Modules(mem)
		if err != nil || len(all) != 1 {
			t.Fatalf("%+v, %v", all, err)
		}
		m := all[0]
		if m.Name != "if_tap" || m.Addr != fbsdModuleFile {
			t.Errorf("module %+v", m)
		}
		if img.Arch() == arch.AMD64 {
			at := map[string]uint64{".text": fbsdModuleBase, ".data": fbsdModuleBase + 0x1000}
			sizes := map[string]uint64{".text": 0x100, ".data": 0x40}
			if !maps.Equal(m.Sections, at) || !maps.Equal(m.Sizes, sizes) || m.Base != 0 {
				t.Errorf("sections %#x, sizes %#x, base %#x", m.Sections, m.Sizes, m.Base)
			}
		} else if m.Base != fbsdModuleBase || m.Sections != nil {
			t.Errorf("base %#x, sections %v", m.Base, m.Sections)
		}
		if k, err := f.Module(mem, fbsdKernelFile); err != nil || k.Name != "kernel" || k.Sections != nil || k.Base != 0 {
			t.Errorf("the kernel: %+v, %v", k, err)
		}
	})
}

// TestFreeBSDHostileModules: a list without end ends, and what is not mapped is an error of one line.
func TestFreeBSDHostileModules(t *testing.T) {
	eachFreeBSD(t, func(t *testing.T, img *kernel.Image, f *freebsd) {
		mem := fbsdFiles(t, img)
		mem[fbsdModuleFile+8] = fbsdModuleFile
		if all, err := f.Modules(mem); err != nil || len(all) > maxModules {
			t.Errorf("%d modules, %v", len(all), err)
		}
		for addr := range mem {
			mem := fbsdFiles(t, img)
			delete(mem, addr)
			if _, err := f.Modules(mem); err != nil && (!strings.HasPrefix(err.Error(), "reading ") || strings.Contains(err.Error(), "\n")) {
				t.Errorf("without %#x: %v", addr, err)
			}
		}
	})
}
