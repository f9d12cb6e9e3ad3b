package debian

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"
)

// archiveKeys are the public keys of Debian's archive for Debian 12 and 13, as the package
// debian-archive-keyring 2025.1 has them, without what others have signed about them.
//
//go:embed archive-keys.pgp
var archiveKeys []byte

// A Keyring is the keys whose signatures are believed.
type Keyring struct{ entities openpgp.EntityList }

// ReadKeyring reads public keys (RFC 9580, section 10.1, not armored).
func ReadKeyring(data []byte) (Keyring, error) {
	entities, err := openpgp.ReadKeyRing(bytes.NewReader(data))
	if err != nil {
		return Keyring{}, fmt.Errorf("reading keys: %w", err)
	}
	return Keyring{entities}, nil
}

// ArchiveKeys returns the keys that Debian signs Debian 12 and 13 with.
func ArchiveKeys() Keyring {
	k, err := ReadKeyring(archiveKeys)
	if err != nil {
		panic(err) // it is part of the program
	}
	return k
}

// maxSignatures is how many bytes of signatures are looked at: Debian has three of 1 KB at most.
const maxSignatures = 64 << 10

// open returns the text of a signed message (RFC 9580, section 7) if a key of k has signed it
// when it was valid: just what was signed, without what stands around it.
func (k Keyring) open(message []byte) (string, error) {
	block, _ := clearsign.Decode(message)
	if block == nil {
		return "", errors.New("it is not a signed release: the site has no Debian, or something on the way answers in its place")
	}
	signatures, err := io.ReadAll(io.LimitReader(block.ArmoredSignature.Body, maxSignatures))
	if err != nil {
		return "", fmt.Errorf("its signature cannot be read: %w", err)
	}
	// A release says itself when it is good, and in words that the error can have: with no time
	// that of the signature is not compared with it.
	config := &packet.Config{Time: func() time.Time { return time.Time{} }}
	_, _, err = openpgp.VerifyDetachedSignature(k.entities, bytes.NewReader(block.Bytes), bytes.NewReader(signatures), config)
	if err != nil {
		return "", signatureProblem(err)
	}
	return strings.ReplaceAll(string(block.Bytes), "\r\n", "\n"), nil
}

// signatureProblem says what is wrong with a signature.
func signatureProblem(err error) error {
	switch {
	case errors.Is(err, pgperrors.ErrUnknownIssuer):
		return errors.New("it is not signed by a key of Debian 12's or 13's: it is not Debian's, or newer than this trapline")
	case errors.Is(err, pgperrors.ErrKeyExpired):
		return errors.New("it is signed by a key that had expired: it is not Debian's")
	}
	return fmt.Errorf("its signature is wrong (%w): it was changed on its way", err)
}
