package vm

import (
	"fmt"

	"trapline/probes/d/option"
)

// maxBytes bounds all speculations together.
const maxBytes = 1 << 32

// checkLimits fails where sizes that may be right alone are too large together.
func checkLimits(c option.Limits) error {
	if c.NSpec > 0 && c.CPUs > 0 && c.SpecSize > maxBytes/c.NSpec/c.CPUs {
		return fmt.Errorf("options nspec and specsize: %d speculations of %d bytes take more than %d", c.NSpec, c.SpecSize, maxBytes)
	}
	return nil
}
