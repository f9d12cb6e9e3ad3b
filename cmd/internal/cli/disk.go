package cli

import (
	"bytes"
	"fmt"
	"os"

	"trapline/emu/boot"
)

const sectorSize = 512 // bytes, of a disk

// openDisks opens the images of the guest's disks, for reading alone: the user's, otherwise
// the one that the kernel comes with.
func (g *guest) openDisks() ([]boot.File, error) {
	var disks []boot.File
	if len(g.options.disks) == 0 && g.Spec.DiskData != nil {
		disks = append(disks, bytes.NewReader(g.Spec.DiskData))
	}
	names := g.options.disks
	if len(names) == 0 && g.Spec.Disk != "" {
		names = []string{g.Spec.Disk}
	}
	for _, name := range names {
		disk, err := g.openDisk(name)
		if err != nil {
			return nil, fmt.Errorf("opening the disk image: %w", err)
		}
		disks = append(disks, disk)
	}
	return disks, nil
}

func (g *guest) openDisk(name string) (boot.File, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	case info.Size() == 0:
		return nil, fmt.Errorf("%s is empty", name)
	case info.Size()%sectorSize != 0:
		return nil, fmt.Errorf("%s: its size of %d bytes is not a multiple of %d; pad it by 'truncate -s %%%d %s'",
			name, info.Size(), sectorSize, sectorSize, name)
	}
	return g.OpenFile(name)
}
