package guestos

import "testing"

func TestParsePolicy(t *testing.T) {
	for name, want := range map[string]*Policy{"all": nil, "linux": LinuxPolicy, "freebsd": FreeBSDPolicy} {
		if got, err := ParsePolicy(name); got != want || err != nil || got.String() != name {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := ParsePolicy("none"); err == nil {
		t.Error("there is a policy none")
	}
	if got := PolicyNames(); got != "all, linux or freebsd" {
		t.Errorf("names: %s", got)
	}
}

func TestFreeBSDPolicy(t *testing.T) {
	for name, want := range map[string]bool{
		"dtrace_probe": true, "dtrace_safe_defer_signal": false, "kinst_invop": false,
		"db_trap": true, "kdb_enter": true, "owner_mtx": true, "owner_mtx2": false,
		"trap_check": true, "trap": false, "Xpage": false, "cpu_switch": true, "cpu_switchin": false,
		"handle_el1h_sync": true, "cpu_exception_handler_user": true, "do_trap_user": true,
		"__msan_init": true, "kmsan_init": true, "exc_page_fault": false,
		"vfs_read": false, "kdbus": false,
	} {
		if got := FreeBSDPolicy.Function(name); (got != "") != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
