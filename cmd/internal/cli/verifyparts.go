package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"

	"trapline/verify"
)

// batchSize is how many functions are reported together.
const batchSize = 64

// A batch is what a process has done.
type batch struct {
	Name   string
	Report *verify.Report
}

// A part is one of several processes. The zero value is none.
type part struct{ number, of int }

func (p *part) String() string { return fmt.Sprintf("%d/%d", p.number, p.of) }
func (p *part) Type() string   { return "part" }

func (p *part) Set(s string) error {
	if n, _ := fmt.Sscanf(s, "%d/%d", &p.number, &p.of); n != 2 || p.of < 1 || p.number < 0 || p.number >= p.of {
		return errors.New("it must be N/M")
	}
	return nil
}

func defaultJobs() int { return runtime.NumCPU() }

// collect has processes verify, and puts together what they and earlier runs have found.
func (e *env) collect(o *verifyOptions, args []string) (*verify.Report, error) {
	c := &collection{o: o, report: new(verify.Report)}
	if err := c.open(); err != nil {
		return nil, err
	}
	defer c.close()
	bar := e.progress()
	bar.Start("instructions", -1)
	defer bar.Done()
	c.progress = func(n int) { bar.Add(int64(n)) }
	var wait sync.WaitGroup
	errs := make([]error, o.jobs)
	for i := range o.jobs {
		wait.Go(func() { errs[i] = c.process(e, args, i) })
	}
	wait.Wait()
	return c.report, errors.Join(errs...)
}

// A collection gathers batches.
type collection struct {
	o        *verifyOptions
	mu       sync.Mutex
	report   *verify.Report
	resume   *os.File // nil: nothing is kept
	progress func(instructions int)
}

// process runs part i.
func (c *collection) process(e *env, args []string, i int) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	cmd := exec.CommandContext(e.ctx, exe, append([]string{"verify", "--part", fmt.Sprintf("%d/%d", i, c.o.jobs)}, args...)...)
	cmd.Stderr = e.stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("verify: starting a process: %w", err)
	}
	err = eachBatch(out, func(b batch, line []byte) error { return c.add(b, line) })
	if e.ctx.Err() != nil {
		cmd.Wait()
		return &exit{status: statusSignal}
	}
	if werr := cmd.Wait(); err == nil && werr != nil {
		err = fmt.Errorf("verify: a process failed: %w", werr)
	}
	return err
}

func (c *collection) add(b batch, line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Add(b.Report)
	c.progress(b.Report.Instructions)
	if c.resume == nil {
		return nil
	}
	if _, err := c.resume.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("verify: writing %s: %w", c.o.resume, err)
	}
	return nil
}

// eachBatch reads the lines of a process, or of a file.
func eachBatch(r io.Reader, f func(b batch, line []byte) error) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil // what has no end was not finished
		}
		if err != nil {
			return fmt.Errorf("verify: %w", err)
		}
		var b batch
		if err := json.Unmarshal(line, &b); err != nil || b.Report == nil {
			return fmt.Errorf("verify: not a line of a verification: %.40q", line)
		}
		if err := f(b, line[:len(line)-1]); err != nil {
			return err
		}
	}
}

// key is what the batches of a file of --resume must have in common.
func (o *verifyOptions) key() string {
	return fmt.Sprintf("%s %s func=%s sample=%d seed=%d states=%d", Version, o.guest.image, o.Func, o.Sample, o.Seed, o.States)
}

// open reads what was done, and goes on behind it.
func (c *collection) open() error {
	if c.o.resume == "" {
		return nil
	}
	err := resumed(c.o, func(b batch) { c.report.Add(b.Report) })
	if err != nil {
		return err
	}
	if c.resume, err = os.OpenFile(c.o.resume, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if info, err := c.resume.Stat(); err != nil || info.Size() > 0 {
		return err
	}
	_, err = fmt.Fprintln(c.resume, c.o.key())
	return err
}

func (c *collection) close() {
	if c.resume != nil {
		c.resume.Close()
	}
}

// readDone lists the batches that need not be done again.
func readDone(o *verifyOptions) (map[string]bool, error) {
	done := map[string]bool{}
	if o.resume == "" {
		return done, nil
	}
	return done, resumed(o, func(b batch) { done[b.Name] = true })
}

// resumed reads the file of --resume, if it is there.
func resumed(o *verifyOptions, f func(batch)) error {
	file, err := os.Open(o.resume)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	defer file.Close()
	r := bufio.NewReader(file)
	switch first, err := r.ReadString('\n'); {
	case err == io.EOF && first == "":
		return nil
	case first != o.key()+"\n":
		return fmt.Errorf("verify: %s is of another verification", o.resume)
	}
	return eachBatch(r, func(b batch, _ []byte) error {
		f(b)
		return nil
	})
}
