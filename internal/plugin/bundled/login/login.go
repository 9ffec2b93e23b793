// Package login keeps the OAuth login of a plugin that comes along with Hermes: the command line logs
// the user in outside of the walls and writes a [File] into the private home of the plugin, and the
// plugin authorizes its requests with it as a [Session].
//
// A service may give a new refresh token each time, so that the newest must not be lost, and several
// processes of a plugin may run: who renews holds a lock, and writes before the token is used.
// It knows no service.
package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/oauth"
)

// Service is where a plugin logs in.
type Service struct {
	// Title is its name for the user.
	Title string
	// OAuth is how, without the client.
	OAuth oauth.Config
	// IDVariable and SecretVariable hold the id and the secret of the user's own client; the second is
	// "" if clients have none.
	IDVariable, SecretVariable string
	// Steps say how to make a client.
	Steps string
}

// File is a login as it is stored. It is secret.
type File struct {
	ClientID     string    `json:"client_id"`
	ClientSecret string    `json:"client_secret,omitempty"`
	Access       string    `json:"access_token"`
	Refresh      string    `json:"refresh_token"`
	Expires      time.Time `json:"expires,omitzero"`
	Scope        string    `json:"scope,omitempty"`
}

// name is the file in the private home.
const name = "login.json"

// Read returns the login in a private home; [fs.ErrNotExist] without one.
func Read(home string) (f File, err error) {
	data, err := os.ReadFile(filepath.Join(home, name))
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("the login is damaged: %w", err)
	}
	return f, nil
}

// Write stores a login, readable by its owner only. It waits for a plugin that is renewing the one before.
func Write(ctx context.Context, home string, f File) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	lock, err := locked(ctx, home)
	if err != nil {
		return err
	}
	defer lock.Release()
	return write(home, f)
}

const (
	// renewTime is how long a renewal may take. It goes on if its call is cancelled: the service may have
	// replaced the refresh token already.
	renewTime = 30 * time.Second
	// lockTime is longer, so that who waits for a renewal sees its end.
	lockTime = renewTime + 15*time.Second
)

func locked(ctx context.Context, home string) (*atomicfile.Lock, error) {
	return atomicfile.Acquire(ctx, filepath.Join(home, name), "the login", lockTime)
}

func write(home string, f File) error {
	data, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(home, name), append(data, '\n'), atomicfile.Options{Mode: 0o600})
}

// Remove forgets a login. It reports whether there was one. It waits, for at most 45 seconds, for a
// plugin that is renewing it, which would write it again.
func Remove(home string) (bool, error) {
	path := filepath.Join(home, name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	lock, err := locked(context.Background(), home)
	if err != nil {
		return false, err
	}
	defer lock.Release()
	err = os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// From is the login that a token is, of a client.
func From(c oauth.Config, t oauth.Token) File {
	return File{ClientID: c.ClientID, ClientSecret: c.ClientSecret, Access: t.Access, Refresh: t.Refresh, Expires: t.Expires, Scope: t.Scope}
}

// early is how long before its end a token is renewed.
const early = time.Minute

// Session authorizes requests. It may be used concurrently.
type Session struct {
	// OAuth is how the service renews tokens; the client comes from the file.
	OAuth oauth.Config
	Home  string
	// Again is what the user does to log in.
	Again string
	Now   func() time.Time

	mu sync.Mutex
}

// Authorize puts the access token into a header, after it was renewed if it ends soon.
func (s *Session) Authorize(ctx context.Context, h http.Header) error {
	s.mu.Lock() // who waits gets the token that was renewed
	defer s.mu.Unlock()
	f, err := s.read()
	if err == nil && !f.Expires.IsZero() && !s.Now().Add(early).Before(f.Expires) {
		f, err = s.renew(ctx, f)
	}
	if err != nil {
		return err
	}
	h.Set("Authorization", "Bearer "+f.Access)
	return nil
}

// Renew gets another token for one that the service refused, as the header Authorization had it.
func (s *Session) Renew(ctx context.Context, refused string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := s.read()
	if err == nil && strings.TrimPrefix(refused, "Bearer ") == f.Access {
		_, err = s.renew(ctx, f)
	}
	return err
}

func (s *Session) read() (File, error) {
	f, err := Read(s.Home)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("there is no login; ask the user to run `" + s.Again + "`")
	}
	return f, err
}

// renew gets a new access token, unless another process just did.
func (s *Session) renew(ctx context.Context, old File) (File, error) {
	lock, err := locked(ctx, s.Home)
	if err != nil {
		return old, err
	}
	defer lock.Release()
	f, err := s.read()
	if err != nil || f.Access != old.Access {
		return f, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewTime)
	defer cancel()
	c := s.OAuth
	c.ClientID, c.ClientSecret = f.ClientID, f.ClientSecret
	t, err := c.Refresh(ctx, f.Refresh)
	if errors.Is(err, oauth.ErrRevoked) {
		return f, errors.New("the login has ended; ask the user to run `" + s.Again + "`")
	}
	if err != nil {
		return f, fmt.Errorf("renew the login: %w", err)
	}
	next := From(c, t)
	if next.Refresh == "" {
		next.Refresh = f.Refresh
	}
	if next.Scope == "" {
		next.Scope = f.Scope
	}
	if now, err := s.read(); err != nil || now.Access != f.Access || now.Refresh != f.Refresh { // the user has logged out, or in as another
		return now, err
	}
	return next, write(s.Home, next)
}
