package guests

import (
	"errors"
	"fmt"

	"trapline/kernel"
	"trapline/kernel/debuginfo"
	"trapline/kernel/source"
	"trapline/probes/copies"
	"trapline/probes/modules"
)

// noDebugInfo says what to do then.
const noDebugInfo = "build the kernel with CONFIG_DEBUG_INFO, or give the file with its debug information with --debug-file"

// A Debug opens a kernel's debug information, which may take a while.
type Debug struct {
	*Kernel
	Indexing func(done, total int64) // is called while functions are indexed; may be nil
	Reading  func(done, total int)   // while lines are read
	Warn     func(error)             // about a file that is passed over
}

// Functions is the index of the kernel's functions in its debug information, which is made the
// first time.
func (d Debug) Functions() (*debuginfo.Index, error) {
	if d.index != nil {
		return d.index, nil
	}
	img, err := d.file()
	if err != nil {
		return nil, err
	}
	d.index, err = debuginfo.OpenIndex(img, CacheDir(), d.Indexing)
	if errors.Is(err, debuginfo.ErrNoDebugInfo) {
		err = fmt.Errorf("%w: %s", err, noDebugInfo)
	}
	return d.index, err
}

// Locals are the local variables of the kernel's functions.
func (d Debug) Locals() (*debuginfo.Locals, error) {
	x, err := d.Functions()
	if err != nil {
		return nil, err
	}
	img, err := d.file()
	if err != nil {
		return nil, err
	}
	if !debuginfo.HasDWARF(img) { // the index was kept
		return nil, fmt.Errorf("%s: %w", img.Name(), debuginfo.ErrNoDebugInfo)
	}
	return debuginfo.NewLocals(img, x, debuginfo.New(img, CacheDir(), ""), d.Image), nil
}

// file is the image, or the file that its debug information has been moved to.
func (d Debug) file() (*kernel.Image, error) {
	if debuginfo.HasDWARF(d.Image) {
		return d.Image, nil
	}
	debug, mismatches := debuginfo.Separate(d.Image, debuginfo.Root)
	for _, m := range mismatches {
		d.Warn(fmt.Errorf("warning: debug file passed over: %w", m))
	}
	if debug == nil {
		return d.Image, nil
	}
	d.closers = append(d.closers, debug)
	return debug, nil
}

// Inlinable are the functions of the guest's kernel with what probes need to know of them.
func (d Debug) Inlinable() (*modules.Functions, error) {
	x, err := d.Functions()
	if err != nil {
		return nil, err
	}
	f, err := copies.New(d.Image)
	if err != nil {
		return nil, err
	}
	return &modules.Functions{Index: x, Finder: f}, nil
}

// Source is what the debug information tells of the lines of the kernel.
func (d Debug) Source() (*copies.Source, error) {
	img, err := d.file()
	if err != nil {
		return nil, err
	}
	info, err := source.OpenLinked(img)
	if errors.Is(err, source.ErrNone) {
		err = fmt.Errorf("%w: %s", err, noDebugInfo)
	}
	if err != nil {
		return nil, err
	}
	s := copies.NewSource(info, d.Image.Symtab())
	s.Progress = d.Reading
	return s, nil
}
