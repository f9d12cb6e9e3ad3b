package debian

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"trapline/images/job"
)

// ErrNetwork is for a site that cannot be reached.
var ErrNetwork = errors.New("cannot reach the Debian package server")

// A SiteError is a site that answers, but not as a site of Debian's does.
type SiteError struct {
	URL string
	Err error
}

// Error gives one line.
func (e *SiteError) Error() string { return e.URL + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *SiteError) Unwrap() error { return e.Err }

// A statusError is an answer other than the file.
type statusError int

func (e statusError) Error() string {
	return fmt.Sprintf("the site answers %d %s", int(e), http.StatusText(int(e)))
}

func isNotFound(err error) bool {
	var status statusError
	return errors.As(err, &status) && status == http.StatusNotFound
}

// patience is how long a site may be silent, unless an archive says otherwise.
const patience = time.Minute

// defaultClient has no limit of time for a whole download, but for each step.
var defaultClient = func() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true // positions are those of the file
	t.ResponseHeaderTimeout = patience
	return &http.Client{Transport: t}
}()

// An answer is a response whose body ends when the site is silent for too long.
type answer struct {
	*http.Response
	ctx    context.Context // that of who asks
	cancel context.CancelCauseFunc
	timer  *time.Timer
	wait   time.Duration
	host   string
}

// get asks for a file, or for its bytes from an offset on.
func (a Archive) get(ctx context.Context, address string, from int64) (*answer, error) {
	inner, cancel := context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(inner, http.MethodGet, address, nil)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	client := a.Client
	if client == nil {
		client = defaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		cancel(nil)
		return nil, networkError(ctx, req.URL.Host, err)
	}
	wait := cmp.Or(a.Patience, patience)
	timer := time.AfterFunc(wait, func() { cancel(fmt.Errorf("no byte has come for %v", wait)) })
	return &answer{resp, ctx, cancel, timer, wait, req.URL.Host}, nil
}

// networkError says in one line that a site cannot be reached.
func networkError(ctx context.Context, host string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return fmt.Errorf("%w %s (%s)", ErrNetwork, host, strings.ReplaceAll(err.Error(), "\n", " "))
}

// Read reads the body.
func (r *answer) Read(p []byte) (int, error) {
	n, err := r.Body.Read(p)
	r.timer.Reset(r.wait)
	if err != nil && err != io.EOF {
		if r.ctx.Err() != nil {
			return n, r.ctx.Err()
		}
		if cause := context.Cause(r.Request.Context()); cause != nil {
			err = cause
		}
		err = &lostError{r.host, err}
	}
	return n, err
}

func (r *answer) close() {
	r.timer.Stop()
	r.cancel(nil)
	r.Body.Close()
}

// A lostError is a connection that ends in the middle.
type lostError struct {
	host string
	err  error
}

func (e *lostError) Error() string {
	return fmt.Sprintf("the connection to %s was lost (%v): the next try goes on from there", e.host, e.err)
}

func (e *lostError) Unwrap() error { return e.err }

// read reads a file of at most limit bytes.
func (a Archive) read(ctx context.Context, address string, limit int64, add func(int64)) ([]byte, error) {
	r, err := a.get(ctx, address, 0)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if r.StatusCode != http.StatusOK {
		return nil, &SiteError{address, statusError(r.StatusCode)}
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	add(int64(len(data)))
	if err == nil && int64(len(data)) > limit {
		err = &SiteError{address, fmt.Errorf("it is longer than %d bytes", limit)}
	}
	return data, err
}

// check compares a file with what a signed list says of it.
func (s sum) check(address string, data []byte) error {
	have := sha256.Sum256(data)
	if int64(len(data)) == s.size && hex.EncodeToString(have[:]) == s.sha256 {
		return nil
	}
	return &SiteError{address, fmt.Errorf("%d bytes with a SHA-256 that begins with %.6x, where %d and %.12s are signed: the site is being updated, try again later",
		len(data), have, s.size, s.sha256)}
}

// A File is a file of the archive, and what is signed of it.
type File struct {
	URL    string
	Size   int64  // bytes
	SHA256 string // in hex
}

// Fetch brings a file of the archive to path and checks it. Bytes are added up by add; they are
// f.Size in the end. What is at path already, of an earlier try, is not fetched again, unless it
// turns out to be wrong. The error wraps ErrNetwork or is a *SiteError, or what the file system
// or ctx say; what has come is at path then.
func (a Archive) Fetch(ctx context.Context, f File, path string, add func(int64)) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	d := &download{archive: a, file: f, out: out, hash: sha256.New(), add: add}
	err = d.run(ctx)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}

// A download is a file that is being fetched: n bytes of it are there, and hashed.
type download struct {
	archive Archive
	file    File
	out     *os.File
	hash    hash.Hash
	n       int64
	useless bool // what an earlier try has left turns out to be
	add     func(int64)
}

func (d *download) run(ctx context.Context) error {
	if err := d.recover(ctx); err != nil {
		return err
	}
	resumed := d.n > 0
	err := d.finish(ctx)
	if resumed && d.useless {
		if err = d.discard(); err == nil {
			err = d.finish(ctx)
		}
	}
	return err
}

// finish fetches what is missing, and checks the whole.
func (d *download) finish(ctx context.Context) error {
	if d.n < d.file.Size {
		if err := d.more(ctx); err != nil {
			return err
		}
	}
	have := hex.EncodeToString(d.hash.Sum(nil))
	if d.n == d.file.Size && have == d.file.SHA256 {
		return nil
	}
	err := &SiteError{d.file.URL, fmt.Errorf("it was damaged on its way: %d bytes with a SHA-256 that begins with %.12s, where %d and %.12s are signed",
		d.n, have, d.file.Size, d.file.SHA256)}
	d.useless = true
	return cmp.Or(d.discard(), error(err))
}

// recover takes up what an earlier try has left.
func (d *download) recover(ctx context.Context) error {
	st, err := d.out.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return err
	}
	if st.Size() > d.file.Size {
		return d.discard()
	}
	return job.Copy(ctx, d.hash, d.out, d.count)
}

// discard begins anew.
func (d *download) discard() error {
	if st, err := d.out.Stat(); err != nil || !st.Mode().IsRegular() {
		return err
	}
	d.add(-d.n)
	d.n = 0
	d.hash.Reset()
	if _, err := d.out.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return d.out.Truncate(0)
}

// more fetches the bytes from d.n on, or all where the site can only do that.
func (d *download) more(ctx context.Context) error {
	r, err := d.archive.get(ctx, d.file.URL, d.n)
	if err != nil {
		return err
	}
	defer r.close()
	switch {
	case r.StatusCode == http.StatusPartialContent && d.n > 0 &&
		strings.HasPrefix(r.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", d.n)):
	case r.StatusCode == http.StatusOK:
		if err := d.discard(); err != nil {
			return err
		}
	default:
		d.useless = r.StatusCode == http.StatusPartialContent || r.StatusCode == http.StatusRequestedRangeNotSatisfiable
		return &SiteError{d.file.URL, statusError(r.StatusCode)}
	}
	return job.Copy(ctx, io.MultiWriter(d.out, d.hash), io.LimitReader(r, d.file.Size-d.n+1), d.count)
}

func (d *download) count(n int64) {
	d.n += n
	d.add(n)
}
