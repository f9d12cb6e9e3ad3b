package tracetest_test

import (
	"context"
	"fmt"
	"strings"

	"trapline/tracetest"
)

// Which system calls does a command make?
func ExampleTrace() {
	trace := tracetest.Trace{
		Command: "forks 3",
		Program: `kinst::sys_*:0 /execname == "forks"/ { @[probefunc] = count(); }`,
	}
	result, err := trace.Run(context.Background())
	if err != nil {
		fmt.Println(err)
	}
	for line := range strings.Lines(result.Stdout) {
		fmt.Println(strings.Join(strings.Fields(line), " "))
	}
	// Output:
	// 3 forks
	//
	// sys_exit 1
	// sys_write 1
	// sys_fork 3
	// sys_setname 3
	// sys_wait 3
}

// A guest that breaks a rule: the D program ends the trace with a status.
func ExampleTrace_status() {
	trace := tracetest.Trace{
		Image:   "tiny/riscv64",
		Command: "forks 3",
		Program: `kinst::sys_fork:0 /++forks == 3/ { printf("three are too many\n"); exit(3); }`,
	}
	result, err := trace.Run(context.Background())
	fmt.Println(strings.TrimSpace(result.Stdout), result.Status, err)
	// Output:
	// three are too many 3 <nil>
}

// Do two architectures run the same system calls?
func ExampleTrace_Aggregate() {
	for _, image := range []string{"tiny/amd64", "tiny/arm64"} {
		trace := tracetest.Trace{Image: image, Command: "forks 3", Program: `kinst::sys_fork:0 { @[execname] = count(); }`}
		rows, err := trace.Aggregate(context.Background())
		if err != nil {
			fmt.Println(err)
		}
		for _, r := range rows {
			fmt.Println(image, r.Keys[0].Text, r.Value)
		}
	}
	// Output:
	// tiny/amd64 sh 1
	// tiny/amd64 forks 3
	// tiny/arm64 sh 1
	// tiny/arm64 forks 3
}
