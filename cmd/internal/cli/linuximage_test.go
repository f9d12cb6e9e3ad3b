//go:build linuximage

package cli

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// onDebian traces a command of debian/amd64, which must have been fetched, and returns
// what it and the program print.
func onDebian(t *testing.T, command, program string) string {
	t.Helper()
	var out, errs bytes.Buffer
	args := []string{"dtrace", "-k", "debian/amd64", "--timeout", "300", "-q", "-c", command, "-n", program}
	if status := mainIn(nil, args, strings.NewReader(""), &out, &errs); status != 0 || errs.Len() > 0 {
		t.Fatalf("status %d: %s\n%s", status, errs.String(), out.String())
	}
	return out.String()
}

// TestLinuxOpen: the file that the first argument's register points to, in the words of
// the process, is the one that the command opens.
func TestLinuxOpen(t *testing.T) {
	out := onDebian(t, "wc -l /etc/passwd", `kinst::do_sys_openat2:0 { printf("%s %s %d\n", execname, copyinstr(arg1), strlen(curthread->comm) == strlen(execname)); }`)
	if !strings.Contains(out, "wc /etc/passwd 1\n") {
		t.Errorf("got %s", out)
	}
}

// TestLinuxInode: the inode that a kernel structure says a file has is the one that ls -i
// prints in the guest.
func TestLinuxInode(t *testing.T) {
	out := onDebian(t, "ls -i /etc/passwd; wc -l /etc/passwd", `
		kinst::vfs_read:0 /execname == "wc"/ {
			this->f = (struct file *)arg0;
			printf("inode %d %s\n", this->f->f_inode->i_ino, stringof(this->f->f_path.dentry->d_name.name));
		}`)
	want := regexp.MustCompile(`(\d+) /etc/passwd`).FindStringSubmatch(out)
	got := regexp.MustCompile(`inode (\d+) passwd`).FindStringSubmatch(out)
	if want == nil || got == nil || want[1] != got[1] {
		t.Errorf("got %s", out)
	}
}

// TestLinuxTypes: curthread, kernel variables and their members have their types, and a
// program with if/else, structures of its own and a translator runs on them.
func TestLinuxTypes(t *testing.T) {
	out := onDebian(t, "true", `
		struct seen { pid_t pid; string comm; uint64_t jiffies; };
		translator struct seen < struct task_struct *T > { pid = T->tgid; comm = stringof(T->comm); };
		struct seen first;
		BEGIN { printf("%s|%s|", stringof(`+"`"+`init_task.comm), stringof(vmlinux`+"`"+`init_uts_ns.name.sysname)); }
		kinst::do_exit:0 {
			if (first.pid == 0) {
				first.pid = xlate <struct seen *>(curthread)->pid;
				first.comm = xlate <struct seen *>(curthread)->comm;
				first.jiffies = `+"`"+`jiffies;
				if (first.pid == pid && first.comm == execname && first.jiffies != 0) printf("same|");
				else printf("different|");
			}
		}`)
	if !strings.Contains(out, "swapper/0|Linux|same|") {
		t.Errorf("got %s", out)
	}
}

// TestLinuxLibrary: the translators of the library agree with the kernel's own words.
func TestLinuxLibrary(t *testing.T) {
	out := onDebian(t, "wc -l /etc/passwd", `
		kinst::vfs_read:0 /execname == "wc" && curpsinfo->pr_pid == pid && curpsinfo->pr_ppid == ppid && curlwpsinfo->pr_lwpid == tid/ {
			this->f = (struct file *)arg0;
			printf("%s %s %s|", curpsinfo->pr_fname, xlate <fileinfo_t *>(this->f)->fi_dirname, xlate <fileinfo_t>(this->f).fi_name);
		}`)
	if !strings.Contains(out, "wc etc passwd|") {
		t.Errorf("got %s", out)
	}
}
