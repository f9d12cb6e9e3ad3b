package device

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// SectorSize is the unit in which disks are read and written, in bytes.
const SectorSize = 512

// A Disk is what a disk holds: an image that is never changed, and over it the sectors
// that the guest has written, in memory.
type Disk struct {
	image   io.ReaderAt
	sectors uint64
	written map[uint64]*sector
	sum     []byte // SHA-256 of the image, once it has been asked for
}

type sector [SectorSize]byte

// NewDisk makes a disk from an image of size bytes, whole sectors.
func NewDisk(image io.ReaderAt, size int64) *Disk {
	return &Disk{image: image, sectors: uint64(size) / SectorSize, written: map[uint64]*sector{}}
}

func (d *Disk) read(n uint64, to *sector) error {
	if s := d.written[n]; s != nil {
		*to = *s
		return nil
	}
	if got, err := d.image.ReadAt(to[:], int64(n*SectorSize)); got < SectorSize {
		return fmt.Errorf("reading sector %d of the disk image: %w", n, err)
	}
	return nil
}

func (d *Disk) write(n uint64, from *sector) {
	s := *from
	d.written[n] = &s
}

// digest is the SHA-256 of the image: two disks are the same if that is, and what was
// written.
func (d *Disk) digest() ([]byte, error) {
	if d.sum != nil {
		return d.sum, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(d.image, 0, int64(d.sectors*SectorSize))); err != nil {
		return nil, fmt.Errorf("reading the disk image: %w", err)
	}
	d.sum = h.Sum(nil)
	return d.sum, nil
}

// Save writes the digest of the image, and the written sectors in their order.
func (d *Disk) Save(w io.Writer) error {
	sum, err := d.digest()
	if err != nil {
		return err
	}
	head := binary.LittleEndian.AppendUint64(slices.Clone(sum), uint64(len(d.written)))
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("saving the disk: %w", err)
	}
	for _, n := range slices.Sorted(maps.Keys(d.written)) {
		record := append(binary.LittleEndian.AppendUint64(nil, n), d.written[n][:]...)
		if _, err := w.Write(record); err != nil {
			return fmt.Errorf("saving the disk: %w", err)
		}
	}
	return nil
}

// Parse reads what Save wrote. A disk with another image is refused.
func (d *Disk) Parse(r io.Reader, _ uint64) (set func(), err error) {
	sum, err := d.digest()
	if err != nil {
		return nil, err
	}
	var head [sha256.Size + 8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("loading the disk: %w", err)
	}
	if !slices.Equal(sum, head[:sha256.Size]) {
		return nil, errors.New("loading the disk: it is of another disk image")
	}
	written := map[uint64]*sector{}
	for i := range binary.LittleEndian.Uint64(head[sha256.Size:]) {
		var n [8]byte
		s := new(sector)
		if _, err := io.ReadFull(r, n[:]); err != nil {
			return nil, fmt.Errorf("loading the disk: %w", err)
		}
		if _, err := io.ReadFull(r, s[:]); err != nil {
			return nil, fmt.Errorf("loading the disk: %w", err)
		}
		at := binary.LittleEndian.Uint64(n[:])
		if written[at] = s; at >= d.sectors || uint64(len(written)) != i+1 {
			return nil, unsound("disk")
		}
	}
	return func() { d.written = written }, nil
}
