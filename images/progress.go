package images

import (
	archive "trapline/images/debian"
	"trapline/images/job"
)

// Progress hears how far a long step is.
type Progress = job.Progress

// NoProgress is a Progress that shows nothing.
type NoProgress = job.NoProgress

// A Package is a version of a package that an image comes from.
type Package = archive.Listing
