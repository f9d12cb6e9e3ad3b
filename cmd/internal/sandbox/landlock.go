package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Rights of Landlock (kernel.org/doc/html/latest/userspace-api/landlock.html).
const (
	readFile  = landlock.AccessFSSet(ll.AccessFSReadFile)
	readBelow = readFile | ll.AccessFSReadDir
	writeFile = readFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	keepBelow = readBelow | writeFile | ll.AccessFSMakeReg | ll.AccessFSMakeDir | ll.AccessFSRemoveFile
	runBelow  = readBelow | ll.AccessFSExecute
)

// own is what the Go runtime and the C library read of the process and of the host.
var own = []string{"/proc/self", "/sys/devices/system/cpu", "/proc/sys/vm/overcommit_memory"}

// ownDevices are what programs expect to be able to write to.
var ownDevices = []string{"/dev/null", "/dev/tty"}

func landlockVersion() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// restrictFiles puts the files that the policy names, and no others, within reach.
func (p Policy) restrictFiles() error {
	version := landlockVersion()
	if version == 0 {
		return errors.New("this host has no Landlock")
	}
	if _, err := os.ReadDir("/proc/self/task"); err != nil { // by which all threads are reached
		return fmt.Errorf("Landlock needs /proc: %w", err)
	}
	c := landlock.V10
	c.HandledAccessNet = 0 // there are no sockets
	if version < 7 {
		c.Scoped = 0 // Linux before 6.15 keeps signals from threads of the same process, too
	}
	return c.BestEffort().Restrict(p.rules()...)
}

// rules are for what is there: what is not cannot be opened anyway.
func (p Policy) rules() (rules []landlock.Rule) {
	add := func(paths []string, below, file landlock.AccessFSSet) {
		for _, path := range paths {
			rights := file
			switch info, err := os.Stat(path); {
			case err != nil || nameless(path):
				continue
			case info.IsDir():
				rights = below
			}
			if rights != 0 {
				rules = append(rules, landlock.PathAccess(rights, path).IgnoreIfMissing())
			}
		}
	}
	makeMissing(p.Files)
	add(own, readBelow, readFile)
	add(p.Read, readBelow, readFile)
	add(p.Write, keepBelow, 0)
	add(p.Files, 0, writeFile)
	if p.Children {
		add([]string{"/"}, runBelow, 0)
		add(ownDevices, 0, writeFile)
		for _, dir := range []string{".", os.TempDir()} {
			rules = append(rules, landlock.RWDirs(dir).IgnoreIfMissing())
		}
	}
	return rules
}

// nameless reports whether path stands for a pipe or a socket that is in no directory, such as
// /dev/stdout may. Landlock has no rules for those, and lets them be opened.
func nameless(path string) bool {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return false
	}
	return st.Type == unix.PIPEFS_MAGIC || st.Type == unix.SOCKFS_MAGIC
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
