// Package checktest is a kernel's types for tests of the language: enough of Linux to
// write programs against.
package checktest

import "trapline/kernel/ctypes"

// Types are the types of a small kernel:
//
//	struct inode { uint64_t i_ino; unsigned int i_mode : 4, i_flags : 12; int i_neg : 5; };
//	struct page { enum state state; };
//	enum state { CLEAN = 0, DIRTY = 3, HUGE = 1 << 40 }; enum { DIRTY = 7 };
//	struct file { struct inode *f_inode; struct { int a; char name[16]; }; int (*f_op)(struct file *, int); };
//	struct task_struct { int pid; char comm[16]; struct task_struct *parent; struct file files[2]; };
//	typedef struct inode inode_t;
//	unsigned long jiffies; struct task_struct init_task; char banner[]; struct file *files[4];
type Types struct {
	inode, file, task, page *ctypes.Type
}

// New makes the types.
func New() *Types {
	t := &Types{
		inode: ctypes.Incomplete(ctypes.Struct, "inode"), file: ctypes.Incomplete(ctypes.Struct, "file"),
		task: ctypes.Incomplete(ctypes.Struct, "task_struct"), page: ctypes.Incomplete(ctypes.Struct, "page"),
	}
	anon := ctypes.Incomplete(ctypes.Struct, "")
	name := ctypes.ArrayOf(ctypes.CharType, 16)
	define := func(t *ctypes.Type, fields ...ctypes.Field) {
		if err := t.Complete(fields, 1<<20); err != nil {
			panic(err)
		}
	}
	define(t.inode,
		ctypes.Field{Name: "i_ino", Type: ctypes.Named("uint64_t")},
		ctypes.Field{Name: "i_mode", Type: ctypes.UnsignedType, Bits: 4},
		ctypes.Field{Name: "i_flags", Type: ctypes.UnsignedType, Bits: 12},
		ctypes.Field{Name: "i_neg", Type: ctypes.IntType, Bits: 5})
	define(t.page, ctypes.Field{Name: "state", Type: &ctypes.Type{
		Kind: ctypes.Enum, Name: "state", Size: 8,
		Enums: []ctypes.Enumerator{{Name: "CLEAN"}, {Name: "DIRTY", Value: 3}, {Name: "HUGE", Value: 1 << 40}},
	}})
	define(anon, ctypes.Field{Name: "a", Type: ctypes.IntType}, ctypes.Field{Name: "name", Type: name})
	op := ctypes.FuncOf(ctypes.IntType, []*ctypes.Type{ctypes.PointerTo(t.file), ctypes.IntType}, false)
	define(t.file, ctypes.Field{Name: "f_inode", Type: ctypes.PointerTo(t.inode)}, ctypes.Field{Type: anon},
		ctypes.Field{Name: "f_op", Type: ctypes.PointerTo(op)})
	define(t.task, ctypes.Field{Name: "pid", Type: ctypes.IntType}, ctypes.Field{Name: "comm", Type: name},
		ctypes.Field{Name: "parent", Type: ctypes.PointerTo(t.task)}, ctypes.Field{Name: "files", Type: ctypes.ArrayOf(t.file, 2)})
	return t
}

// Tagged implements check.Types.
func (t *Types) Tagged(_ ctypes.Kind, tag string) (*ctypes.Type, bool) {
	typ := map[string]*ctypes.Type{"inode": t.inode, "file": t.file, "task_struct": t.task, "page": t.page}[tag]
	return typ, typ != nil
}

// Typedef implements check.Types.
func (t *Types) Typedef(name string) (*ctypes.Type, bool) {
	return ctypes.TypedefOf("inode_t", t.inode), name == "inode_t"
}

// Variable implements check.Types.
func (t *Types) Variable(name string) (*ctypes.Type, bool) {
	typ := map[string]*ctypes.Type{
		"jiffies": ctypes.UlongType, "init_task": t.task, "banner": ctypes.ArrayOf(ctypes.CharType, -1),
		"files": ctypes.ArrayOf(ctypes.PointerTo(t.file), 4),
	}[name]
	return typ, typ != nil
}

// Enumerator implements check.Types.
func (t *Types) Enumerator(name string) []int64 {
	return map[string][]int64{"CLEAN": {0}, "DIRTY": {3, 7}, "HUGE": {1 << 40}}[name]
}

// Thread implements check.Types.
func (t *Types) Thread() *ctypes.Type { return t.task }

// Symbol is a symbol table with the variables of Types, each of a page.
func Symbol(_, name string) (addr, size uint64, ok bool) {
	switch name {
	case "jiffies":
		return 0xffffffff81000000, 8, true
	case "init_task":
		return 0xffffffff81001000, 4096, true
	case "banner":
		return 0xffffffff81002000, 64, true
	case "this_cpu_off":
		return 0x1a000, 8, true
	case "files":
		return 0xffffffff81003000, 32, true
	}
	return 0, 0, false
}

// Args are those of probes "fbt::vfs_read:entry", nothing of others.
func (t *Types) Args(desc string) []*ctypes.Type {
	if desc == "fbt::vfs_read:entry" {
		return []*ctypes.Type{ctypes.PointerTo(t.file), ctypes.Named("uint32_t"), ctypes.PointerTo(ctypes.CharType)}
	}
	return nil
}
