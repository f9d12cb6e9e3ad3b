package script

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const extension = ".txtar"

// Name is how a script is called in reports: its path without its ending, with slashes.
func Name(file string) string {
	return filepath.ToSlash(strings.TrimSuffix(filepath.Clean(file), extension))
}

// Find returns the scripts among paths, sorted by path, each once: files as they are,
// of directories the .txtar files in and below them.
func Find(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("finding scripts: %w", err)
		}
		if !info.IsDir() {
			files = append(files, filepath.Clean(path))
			continue
		}
		below, err := scriptsBelow(path)
		if err != nil {
			return nil, err
		}
		files = append(files, below...)
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

func scriptsBelow(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == extension {
			files = append(files, filepath.Clean(path))
		}
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("finding scripts: %w", err)
	case len(files) == 0:
		return nil, fmt.Errorf("there are no %s files in %s", extension, dir)
	}
	return files, nil
}

// A Shard is one of Count parts of a suite; Index counts from 0. The zero Shard is all of it.
type Shard struct{ Index, Count int }

// ParseShard reads "I/N", the I-th of N parts: 1/4 to 4/4.
func ParseShard(text string) (Shard, error) {
	i, n, _ := strings.Cut(text, "/")
	return newShard(i, n, 1, fmt.Errorf("shard %q: it must be I/N: 1/4 is the first of four parts, 4/4 the last", text))
}

// JobShard is the part of a pod in a Kubernetes Job that is indexed: JOB_COMPLETION_INDEX
// counts from 0; the Job's completions are passed on as JOB_COMPLETION_COUNT. Outside such
// a Job it is the whole.
func JobShard(getenv func(string) string) (Shard, error) {
	i, n := getenv("JOB_COMPLETION_INDEX"), getenv("JOB_COMPLETION_COUNT")
	if i == "" {
		return Shard{}, nil
	}
	return newShard(i, n, 0, fmt.Errorf("JOB_COMPLETION_INDEX is %q and JOB_COMPLETION_COUNT is %q: "+
		"set the count to the Job's completions, or say --shard 1/1 for all scripts", i, n))
}

// newShard makes a shard of two numbers. The first counts from base.
func newShard(index, count string, base int, bad error) (Shard, error) {
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	if i -= base; err1 != nil || err2 != nil || i < 0 || i >= n {
		return Shard{}, bad
	}
	return Shard{i, n}, nil
}

// Of returns the shard's part of files: as many as of the others, within one, and next to
// each other, so that the parts' reports one after the other are that of the whole.
func (s Shard) Of(files []string) []string {
	if s.Count == 0 {
		return files
	}
	return files[s.Index*len(files)/s.Count : (s.Index+1)*len(files)/s.Count]
}
