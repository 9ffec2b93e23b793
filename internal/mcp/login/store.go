package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hermes/internal/atomicfile"
)

// record is the file of a server: its tokens, for whom they are, and the client that they were
// given to.
type record struct {
	_ [0]func() // it is never compared, which saves the code for it

	// URL is the address of the server in the settings. Nothing of the record is used for
	// another one.
	URL      string `json:"server_url"`
	Issuer   string `json:"issuer,omitempty"`
	Resource string `json:"resource,omitempty"`

	TokenURL  string `json:"token_endpoint,omitempty"`
	RevokeURL string `json:"revocation_endpoint,omitempty"`
	Client    client `json:"client,omitzero"`

	Access  string    `json:"access_token,omitempty"`
	Refresh string    `json:"refresh_token,omitempty"`
	Scope   string    `json:"scope,omitempty"` // what was granted
	Expires time.Time `json:"expires,omitzero"`
	// Wanted are scopes that the server asked for later.
	Wanted string `json:"wanted_scope,omitempty"`
}

// client is who got the tokens.
type client struct {
	ID     string `json:"client_id,omitempty"`
	Secret string `json:"client_secret,omitempty"` // only of a client that registered itself
	Method string `json:"token_endpoint_auth_method,omitempty"`
	// Redirect is the address that the client was registered with; "" if it did not register.
	Redirect string    `json:"redirect_uri,omitempty"`
	Until    time.Time `json:"client_secret_expires_at,omitzero"`
}

// early is how long before its end a token is renewed.
const early = 30 * time.Second

func (r record) fresh(now time.Time) bool {
	return r.Access != "" && (r.Expires.IsZero() || now.Add(early).Before(r.Expires))
}

// maxRecord bounds the file, in bytes.
const maxRecord = 1 << 20

// owner says whose file there is.
type owner int

const (
	noFile  owner = iota
	ours          // of this server and client
	another       // of another address, or of another client of the settings
)

// read returns what is kept for this server, and only for it: the zero record if the file is
// about another address or another client of the settings. What could not be written is newer.
func (l *Login) read() (record, error) {
	r, of, err := l.load()
	if err != nil {
		return record{}, err
	}
	return l.cfg.Unsaved.newer(l.key(), r, of), nil
}

// load reads the file. What belongs to others is not returned.
func (l *Login) load() (record, owner, error) {
	var r record
	info, err := os.Stat(l.cfg.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, noFile, nil
	}
	if err == nil && info.Size() > maxRecord {
		err = errors.New("it is too large")
	}
	var raw []byte
	if err == nil {
		raw, err = os.ReadFile(l.cfg.Path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, noFile, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		return record{}, another, fmt.Errorf("the file with the login is not readable: %w; log in again with `hermes mcp login %s`", err, l.cfg.Server)
	}
	if r.URL != l.cfg.URL || l.cfg.Client.ID != "" && r.Client.ID != "" && r.Client.ID != l.cfg.Client.ID {
		return record{}, another, nil
	}
	return r, ours, nil
}

// write keeps a record, readable by the user only. The caller has the lock.
func (l *Login) write(r record) error {
	r.URL = l.cfg.URL
	if r.Client.ID == l.cfg.Client.ID {
		r.Client.Secret = "" // it is in the settings
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(l.cfg.Path, append(raw, '\n'), atomicfile.Options{Mode: 0o600, Force: true}); err != nil {
		return fmt.Errorf("keep the login of %s: %w", l.cfg.Server, err)
	}
	l.cfg.Unsaved.drop(l.key())
	return nil
}

// lockTime is how long to wait for another process that renews the token.
const lockTime = time.Minute

// locked calls do while no other process changes the file.
func (l *Login) locked(ctx context.Context, do func() error) error {
	return l.lockedWithin(ctx, lockTime, do)
}

func (l *Login) lockedWithin(ctx context.Context, wait time.Duration, do func() error) (err error) {
	if err := os.MkdirAll(filepath.Dir(l.cfg.Path), 0o700); err != nil {
		return fmt.Errorf("keep the login of %s: %w", l.cfg.Server, err)
	}
	lock, err := atomicfile.Acquire(ctx, l.cfg.Path, "hermes, which renews the login", wait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	return do()
}

// change changes the record of this server. A file that is not readable or belongs to another address
// stays as it is: only a login replaces it.
func (l *Login) change(ctx context.Context, do func(*record)) error {
	return l.locked(ctx, func() error {
		if _, of, err := l.load(); err != nil || of == another {
			return err
		}
		r, err := l.read()
		if err != nil {
			return err
		}
		do(&r)
		return l.write(r)
	})
}

// replace keeps a record in place of whatever there is.
func (l *Login) replace(ctx context.Context, r record) error {
	return l.locked(ctx, func() error { return l.write(r) })
}

// Out forgets the login, and tells the service if it wants to know. It reports whether there
// was one. notified is why the service could not be told, nil if it was or need not be.
func (l *Login) Out(ctx context.Context) (was bool, notified, err error) {
	err = l.locked(ctx, func() error {
		r, _ := l.read() // then only the file is removed
		was = r.Access != "" || r.Refresh != ""
		if was && r.RevokeURL != "" {
			notified = l.revoke(ctx, r)
		}
		if err := os.Remove(l.cfg.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget the login of %s: %w", l.cfg.Server, err)
		}
		return nil
	})
	return was, notified, err
}
