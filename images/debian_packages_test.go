package images

import (
	"strings"
	"testing"
)

func TestKernelDependency(t *testing.T) {
	d := debianAMD64.origin.(*debian)
	for depends, want := range map[string]string{
		"linux-image-6.1.0-56-cloud-amd64 (= 6.1.192-2)":          "6.1.0-56-cloud-amd64 6.1.192-2",
		"base, linux-image-6.12.9+deb13-cloud-amd64 (= 6.12.9-1)": "6.12.9+deb13-cloud-amd64 6.12.9-1",
		"linux-image-6.1.0-56-cloud-amd64 (>= 6.1.192-2)":         "",
		"": "",
	} {
		m, err := d.dependency([]map[string]string{{"Package": "other"}, {"Package": d.kernel, "Depends": depends}})
		if got := strings.Join(m, "|"); (err == nil) != (want != "") || err == nil && m[1]+" "+m[2] != want {
			t.Errorf("%q: %s, %v", depends, got, err)
		}
	}
}
