package cli

import (
	"trapline/images"
	"trapline/kernel/debuginfo"
	"trapline/probes/d/check"
)

// types are the C types of the guest's kernel. Indexes are kept beside the images.
func (g *guest) types() check.Types {
	cache, err := images.Store{}.Path()
	if err != nil {
		cache = "" // made again every time
	}
	thread := map[string]string{"linux": "task_struct", "tiny": "thread"}[g.os.Name()]
	return debuginfo.New(g.image, cache, thread)
}
