package kernel

import "testing"

func TestDemangle(t *testing.T) {
	for name, want := range map[string]string{
		"_ZN4core3fmt5write17h0123456789abcdefE":                                       "core::fmt::write", // Rust, legacy
		"_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE": "core::ptr::drop_in_place<alloc::string::String>",
		"_RNvNtNtCs1234_8mykernel5sched3cpu4pick":                                      "mykernel::sched::cpu::pick", // Rust, v0
		"_ZN5sched4pickEv":                "sched::pick", // C++
		"_ZN5sched4pickEi":                "sched::pick",
		"_ZN5sched4pickEv.cold":           "sched::pick.cold",
		"_ZN5sched5QueueIiE3popEv.part.0": "sched::Queue<int>::pop.part.0",
		"_Z3fooPKc":                       "foo",
		"vfs_read":                        "vfs_read", // C
		"_Znosuch":                        "_Znosuch",
		"_R":                              "_R",
		"":                                "",
		"__ZN4core":                       "__ZN4core",
	} {
		if got := Demangle(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func FuzzDemangle(f *testing.F) {
	f.Add("_ZN4core3fmt5write17h0123456789abcdefE")
	f.Add("_RNvNtNtCs1234_7mykernel5sched3cpu4pick")
	f.Fuzz(func(t *testing.T, name string) {
		if got := Demangle(name); len(name) < maxName && len(got) > 2*maxName {
			t.Errorf("%q becomes %d bytes", name, len(got))
		}
	})
}
