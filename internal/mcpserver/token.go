package mcpserver

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hermes/internal/atomicfile"
)

// TokenTime is how long the token of a file is valid.
const TokenTime = 90 * 24 * time.Hour

// minToken is how many characters a token has at least, so that it cannot be guessed.
const minToken = 20

// TokenFile is a file that holds the token of the endpoint, readable by its owner only. The token
// is valid while it is in the file, for at most TokenTime: removing the file, or Renew in another
// process, revokes it at once.
type TokenFile struct {
	Path string
	Now  func() time.Time
}

// Make returns the time until which the token is valid. A token is made if there is none, or it is
// over.
func (t TokenFile) Make() (until time.Time, err error) {
	if _, until, err = t.read(); err == nil {
		return until, nil
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errOver) {
		return until, err
	}
	return t.Renew()
}

// Renew replaces the token, which revokes the old one.
func (t TokenFile) Renew() (until time.Time, err error) {
	if err := os.MkdirAll(filepath.Dir(t.Path), 0o700); err != nil {
		return until, err
	}
	until = t.Now().Add(TokenTime).UTC().Truncate(time.Second)
	text := rand.Text() + rand.Text() + "\n" + until.Format(time.RFC3339) + "\n"
	return until, atomicfile.Write(t.Path, []byte(text), atomicfile.Options{Mode: 0o600, Force: true})
}

// Valid reports whether a token is that of the file.
func (t TokenFile) Valid(token string) bool {
	want, _, err := t.read()
	return err == nil && same(token, want)
}

var errOver = errors.New("the token is over; start the server again to get a new one")

func (t TokenFile) read() (token string, until time.Time, err error) {
	info, err := os.Lstat(t.Path)
	if err != nil {
		return "", until, err
	}
	if !info.Mode().IsRegular() || !private(info) {
		return "", until, fmt.Errorf("%s is no regular file that only you can read; remove it, and it is made again", t.Path)
	}
	f, err := os.Open(t.Path)
	if err != nil {
		return "", until, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, 1<<10))
	if err != nil {
		return "", until, err
	}
	token, rest, _ := strings.Cut(string(raw), "\n")
	until, err = time.Parse(time.RFC3339, strings.TrimSpace(rest))
	if err != nil || len(token) < minToken {
		return "", until, fmt.Errorf("%s is damaged; remove it, and it is made again", t.Path)
	}
	if t.Now().After(until) {
		return "", until, errOver
	}
	return token, until, nil
}

// FixedToken returns a check for a token of the user, or an error, worded for the user, if it is
// too easy to guess.
func FixedToken(want string) (func(token string) bool, error) {
	if len(want) < minToken {
		return nil, fmt.Errorf("the token has %d characters; use at least %d random ones, such as those of `openssl rand -hex 32`", len(want), minToken)
	}
	return func(token string) bool { return same(token, want) }, nil
}

// same compares in a time that depends on neither content nor length.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
