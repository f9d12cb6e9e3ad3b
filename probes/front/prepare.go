package front

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"trapline/kernel/guestos"
	"trapline/probes/d/option"
)

// preprocess passes a text through the C preprocessor. A first line that begins with #! is not for cpp.
func preprocess(o option.Cpp, text string) (out, messages string, err error) {
	if strings.HasPrefix(text, "#!") {
		text = "//" + text
	}
	args := []string{"-D__SUNW_D=1", "-D__SUNW_D_64"}
	if o.Headers {
		args = append(args, "-H")
	}
	path := o.Path
	if path == "" {
		path = "cpp"
	}
	cmd := exec.Command(path, append(append(args, o.Args...), "-")...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(text), &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// prepare reads the libraries and preprocesses the scripts.
func (c *Config) prepare(sources []Source) ([]Source, error) {
	libs, err := c.libraries()
	if err != nil {
		return nil, err
	}
	all := append(libs, sources...)
	if !c.Options.Cpp.On {
		return all, nil
	}
	for i, src := range all {
		if src.File == "" {
			continue
		}
		text, messages, err := preprocess(c.Options.Cpp, src.Text)
		if err != nil {
			return nil, &CompileError{src, fmt.Errorf("the preprocessor failed: %w\n%s", err, strings.TrimSpace(messages)), false}
		}
		if _, err := fmt.Fprint(c.Stderr, messages); err != nil {
			return nil, err
		}
		all[i].Text = text
	}
	return all, nil
}

// libraries are the scripts *.d of the library directories, each after those that it
// depends on.
func (c *Config) libraries() ([]Source, error) {
	if c.Options.NoLibs {
		return nil, nil
	}
	var all []Source
	for _, dir := range c.Options.LibDirs {
		names, err := filepath.Glob(filepath.Join(dir, "*.d"))
		if err != nil {
			return nil, fmt.Errorf("libraries in %s: %w", dir, err)
		}
		if _, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("libraries: %w", err)
		}
		slices.Sort(names)
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, fmt.Errorf("libraries: %w", err)
			}
			all = append(all, Source{File: name, Text: string(text), Library: true})
		}
	}
	return byDependency(all)
}

var dependsOn = regexp.MustCompile(`(?m)^\s*#\s*pragma\s+D\s+depends_on\s+library\s+(\S+)`)

// byDependency sorts libraries so that none comes before one that it depends on.
func byDependency(libs []Source) ([]Source, error) {
	var out []Source
	const (
		fresh = iota
		begun
		done
	)
	state := make([]int, len(libs))
	var visit func(i int) error
	visit = func(i int) error {
		switch state[i] {
		case begun:
			return &CompileError{libs[i], errors.New("libraries depend on each other in a circle"), false}
		case done:
			return nil
		}
		state[i] = begun
		for _, m := range dependsOn.FindAllStringSubmatch(libs[i].Text, -1) {
			j := slices.IndexFunc(libs, func(l Source) bool { return filepath.Base(l.File) == m[1] })
			if j < 0 && slices.Contains(guestos.LibraryNames(), m[1]) {
				continue
			}
			if j < 0 {
				return &CompileError{libs[i], fmt.Errorf("it depends on the library %s, which is not there", m[1]), false}
			}
			if err := visit(j); err != nil {
				return err
			}
		}
		state[i] = done
		out = append(out, libs[i])
		return nil
	}
	for i := range libs {
		if err := visit(i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// libraryNames are the names of the files of libraries.
func libraryNames(sources []Source) (names []string) {
	for _, src := range sources {
		if src.Library {
			names = append(names, filepath.Base(src.File))
		}
	}
	return names
}
