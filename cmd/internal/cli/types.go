package cli

import (
	"trapline/images"
	"trapline/kernel/debuginfo"
	"trapline/probes/d/check"
)

// types are the C types of the guest's kernel. Indexes are kept beside the images.
func (g *guest) types() check.Types {
	return debuginfo.New(g.image, cacheDir(), g.os.System().ThreadTag)
}

// cacheDir is where what is made of images is kept, "" if there is no such place: it is
// made again every time then.
func cacheDir() string {
	dir, err := images.Store{}.Path()
	if err != nil {
		return ""
	}
	return dir
}
