// Package sandbox lets a process give up what it does not need, for good: it is for a process that
// goes on with somebody else's machine code or data.
//
//	Policy --Landlock--> files that are not named cannot be opened, made, renamed or removed
//	       --seccomp---> no sockets, no programs, no other processes, nothing of the system's
//
// A host may lack one of the two, or refuse it; the other one stands alone then. What is refused
// fails with EPERM or EACCES and does not end the process: a mistake of ours in a Policy becomes an
// error that names a file, not a crash. Only system calls of another architecture's numbering,
// which no part of ours makes, kill.
//
// What was opened before stays open. What stays possible is in docs/security.md.
package sandbox

import (
	"errors"
	"os"
)

// A Policy is what a process may still do. The zero value leaves it its memory, its threads and the
// files that are open.
type Policy struct {
	Read  []string // files, and directories with all below them, that may be read
	Write []string // directories below which files may be read, made, written, renamed and removed
	Files []string // files that may be written; where Landlock is in force they are made if they are missing

	// Children allows to run programs, which are in the sandbox too. They, and this process, may
	// read and execute every file and write below the working directory and os.TempDir; they have no
	// sockets, and nothing else that needs privileges.
	Children bool
}

// Add allows what other allows, too.
func (p *Policy) Add(other Policy) {
	p.Read = append(p.Read, other.Read...)
	p.Write = append(p.Write, other.Write...)
	p.Files = append(p.Files, other.Files...)
	p.Children = p.Children || other.Children
}

// InForce says what of a sandbox a process is in, or could be in.
type InForce struct {
	Landlock int  // version of its ABI, 0 for none
	Seccomp  bool // the filter of system calls
}

// Whole reports whether nothing is missing.
func (f InForce) Whole() bool { return f.Landlock > 0 && f.Seccomp }

// Host returns what this host has. It is asked before Enter.
func Host() InForce { return InForce{landlockVersion(), seccompAvailable()} }

// Enter puts all threads of the process, and those to come, into a sandbox. There is no way back,
// and no second one where seccomp is in force. What the host lacks or refuses is left out: the error
// says why, and the rest is in force.
func Enter(p Policy) (InForce, error) {
	var in InForce
	files := p.restrictFiles()
	if files == nil {
		in.Landlock = landlockVersion()
	}
	calls := installFilter(filter(p.Children, os.Getpid()))
	in.Seccomp = calls == nil
	return in, errors.Join(files, calls)
}
