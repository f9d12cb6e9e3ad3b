package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Rights of Landlock (kernel.org/doc/html/latest/userspace-api/landlock.html).
const (
	readFile  = ll.AccessFSReadFile
	readBelow = readFile | ll.AccessFSReadDir
	writeFile = readFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	keepBelow = readBelow | writeFile | ll.AccessFSMakeReg | ll.AccessFSMakeDir | ll.AccessFSRemoveFile
	runBelow  = readBelow | ll.AccessFSExecute
	workBelow = keepBelow | ll.AccessFSRemoveDir | ll.AccessFSMakeSym | ll.AccessFSExecute
)

// own is what the Go runtime and the C library read of the process and of the host. The first is also
// where all threads are found, after one of them is in the sandbox.
var own = []string{"/proc/self", "/sys/devices/system/cpu", "/proc/sys/vm/overcommit_memory"}

func landlockVersion() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// handled are all rights to files that a version of Landlock knows: what no rule gives is refused.
func handled(version int) uint64 {
	rights := uint64(ll.AccessFSMakeSym<<1 - 1) // those of the first, in order
	for since, right := range map[int]uint64{
		2: ll.AccessFSRefer, 3: ll.AccessFSTruncate, 5: ll.AccessFSIoctlDev, 9: ll.AccessFSResolveUnix,
	} {
		if version >= since {
			rights |= right
		}
	}
	return rights
}

// restrictFiles puts the files that the policy names, and no others, within reach.
func (p Policy) restrictFiles() error {
	version := landlockVersion()
	if version == 0 {
		return errors.New("this host has no Landlock")
	}
	if err := findThreads(); err != nil {
		return err
	}
	set := ll.RulesetAttr{HandledAccessFS: handled(version)}
	if version >= 7 { // Linux before 6.15 may keep signals from threads of the same process, too
		set.Scoped = ll.ScopeSignal | ll.ScopeAbstractUnixSocket
	}
	rules, err := ll.LandlockCreateRuleset(&set, 0)
	if err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	defer unix.Close(rules)
	if err := p.addRules(rules, set.HandledAccessFS); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := restrictThreads(rules, version); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

// findThreads says why the threads of the process could not be found, by which the library would be
// surprised when there is no way back.
func findThreads() error {
	if self, err := os.Readlink("/proc/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return errors.New("landlock needs /proc, and that of the process's own namespace")
	}
	tasks, err := os.Open("/proc/self/task")
	if err != nil {
		return fmt.Errorf("landlock needs /proc: %w", err)
	}
	return tasks.Close()
}

// A reach is rights to files: to those named, and to all below those that are directories.
type reach struct {
	paths       []string
	file, below uint64
}

func (p Policy) reaches() []reach {
	all := []reach{
		{own, readFile, readBelow},
		{p.Read, readFile, readBelow},
		{p.Write, 0, keepBelow},
		{p.Files, writeFile, 0},
	}
	if p.Children {
		all = append(all,
			reach{[]string{"/"}, 0, runBelow},
			reach{[]string{"/dev/null", "/dev/tty"}, writeFile, 0},
			reach{[]string{".", os.TempDir()}, 0, workBelow},
		)
	}
	return all
}

// addRules adds a rule for each file of the policy that is there: what is not cannot be opened
// anyway.
func (p Policy) addRules(rules int, handled uint64) error {
	makeMissing(p.Files)
	for _, r := range p.reaches() {
		for _, path := range r.paths {
			if path == "" {
				continue
			}
			if err := r.addRule(rules, path, handled); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return nil
}

func (r reach) addRule(rules int, path string, handled uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	rights := r.file & handled
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		rights = r.below & handled
	case unix.S_IFIFO, unix.S_IFSOCK: // /dev/stdout may be one that is in no directory: it can be opened without a rule
		if nameless(fd) {
			return nil
		}
	}
	if rights == 0 {
		return nil
	}
	return ll.LandlockAddPathBeneathRule(rules, &ll.PathBeneathAttr{ParentFd: fd, AllowedAccess: rights}, 0)
}

// nameless reports whether a pipe or a socket is in no directory.
func nameless(fd int) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(fd, &st) == nil && (st.Type == unix.PIPEFS_MAGIC || st.Type == unix.SOCKFS_MAGIC)
}

// makeMissing makes the files that are missing: a rule is for a file, not for a name. One that cannot be
// made cannot be opened later, which says why.
func makeMissing(files []string) {
	for _, name := range files {
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o666); err == nil {
			f.Close()
		}
	}
}

// restrictThreads enforces the rules on all threads. Linux 7.0 has that; before, a signal lets each of
// them do it.
func restrictThreads(rules, version int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if version >= 8 {
		if err := noNewPrivileges(); err != nil {
			return err
		}
		return ll.LandlockRestrictSelf(rules, ll.FlagRestrictSelfTSync)
	}
	// Landlock wants no_new_privs in each thread. A filter that does nothing brings it to all of them
	// in a tenth of the time of another round of signals.
	if installFilter(program{}.add(allow)) != nil {
		if err := ll.AllThreadsPrctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
	}
	return ll.AllThreadsLandlockRestrictSelf(rules, 0)
}

// noNewPrivileges keeps setuid programs from giving the thread back what it gives up.
func noNewPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	return nil
}
