package images

// linuxNeeds are Linux's.
var linuxNeeds = &Needs{
	OS: "linux",
	words: map[string]string{
		"amd64": amd64LinuxAppend, "arm64": arm64LinuxAppend, "riscv64": riscv64LinuxAppend,
	},
	// Several CPUs of an amd64 machine are found by ACPI and have local APICs.
	alone: []string{"acpi=off", "nolapic"},
}
