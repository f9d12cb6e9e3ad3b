package guests

import "trapline/images"

// CacheDir is where what is made of images is kept, "" if there is no such place: it is
// made again every time then.
func CacheDir() string {
	dir, err := images.Store{}.Path()
	if err != nil {
		return ""
	}
	return dir
}
