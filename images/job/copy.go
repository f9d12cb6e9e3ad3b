package job

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
)

// Hash returns the SHA-256 of a file in hex and adds its bytes to p.
func Hash(ctx context.Context, path string, p Progress) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if err := Copy(ctx, hash, file, p.Add); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// Copy copies r to w until its end or until ctx is done, and calls add with the bytes of each step.
func Copy(ctx context.Context, w io.Writer, r io.Reader, add func(n int64)) error {
	buf := make([]byte, 1<<20)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buf)
		if _, werr := w.Write(buf[:n]); werr != nil {
			return werr
		}
		add(int64(n))
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
