package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"text/tabwriter"

	"trapline/emu"
	"trapline/images/snapshots"
)

// runSnapshot looks after the snapshots of guests that have booted.
func runSnapshot(e *env, args []string) error {
	var o guestOptions
	f := e.newFlags("snapshot", `  ls          list the snapshots, the one used last first
  save IMAGE  boot a guest with the flags of boot and save its snapshot, unless there is one
  info KEY    show what guest a snapshot is of
  rm KEY...   remove snapshots
`)
	all := f.Bool("all", false, "rm: remove every snapshot")
	o.add(f)
	if err := parse(f, args); err != nil {
		return err
	}
	cache, err := snapshotCache()
	if err != nil {
		return err
	}
	switch verb, rest := f.Arg(0), f.Args()[min(1, f.NArg()):]; {
	case verb == "ls" && len(rest) == 0:
		return e.listSnapshots(cache)
	case verb == "save" && len(rest) == 1:
		o.image = rest[0]
		return e.saveSnapshot(o)
	case verb == "info" && len(rest) == 1:
		return e.showSnapshot(cache, rest[0])
	case verb == "rm" && (len(rest) > 0) != *all:
		return removeSnapshots(cache, rest)
	}
	return usagef("snapshot: say one of: ls, save IMAGE, info KEY, rm KEY..., rm --all")
}

func (e *env) listSnapshots(cache snapshots.Cache) error {
	list, err := cache.List()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tIMAGE\tMEMORY\tON DISK\tUSED")
	for _, s := range list {
		image, memory := "-", "-"
		if info, n, err := readSnapshot(cache, s.Key); err == nil {
			image, memory = n.Image, fmt.Sprintf("%d MiB", info.Memory>>20)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d MiB\t%s\n", s.Key, image, memory, s.Disk>>20, s.Used.UTC().Format("2006-01-02 15:04"))
	}
	return w.Flush()
}

func readSnapshot(cache snapshots.Cache, key string) (info emu.SnapshotInfo, n note, err error) {
	f, err := cache.Peek(key)
	if err != nil {
		return info, n, err
	}
	defer f.Close()
	if info, err = emu.ReadSnapshot(f); err == nil {
		err = json.Unmarshal(info.Note, &n)
	}
	return info, n, err
}

func (e *env) showSnapshot(cache snapshots.Cache, key string) error {
	info, n, err := readSnapshot(cache, key)
	if errors.Is(err, fs.ErrNotExist) {
		return noSnapshot(key)
	}
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "key\t%s\nimage\t%s\narchitecture\t%s\nmemory\t%d MiB\nlibunicorn\t%s\nconsole\t%d bytes\ntranslations\t%d KiB\n",
		key, n.Image, info.Arch, info.Memory>>20, info.Library, len(n.Console), sizeOfTranslations(key)>>10)
	return w.Flush()
}

func noSnapshot(key string) error {
	return fmt.Errorf("there is no snapshot %s: 'trapline snapshot ls' lists them", key)
}

// saveSnapshot boots a guest as far as its snapshot goes.
func (e *env) saveSnapshot(o guestOptions) error {
	if o.command == "" {
		o.command = "true" // no part of the snapshot; without one a guest is not asked to wait
	}
	g, err := e.newGuest(o, guestConfig{console: io.Discard, mustSave: true})
	if err != nil {
		return err
	}
	defer g.close()
	key, err := g.snapshotKey()
	if err != nil {
		return err
	}
	if key == "" {
		return usagef("snapshot save: --until and --no-snapshot leave nothing to save")
	}
	ready, end, err := g.boot(e)
	if err != nil {
		return err
	}
	if !ready {
		if err := g.trouble(end); err != nil {
			return err
		}
		return fmt.Errorf("the guest ended (%s) without asking for its command", end)
	}
	_, err = fmt.Fprintln(e.stdout, key)
	return err
}

func removeSnapshots(cache snapshots.Cache, keys []string) error {
	if len(keys) == 0 {
		removeTranslations("")
		list, err := cache.List()
		if err != nil {
			return err
		}
		for _, s := range list {
			keys = append(keys, s.Key)
		}
	}
	for _, key := range keys {
		removeTranslations(key)
		if err := cache.Remove(key); errors.Is(err, fs.ErrNotExist) {
			return noSnapshot(key)
		} else if err != nil {
			return err
		}
	}
	return nil
}
