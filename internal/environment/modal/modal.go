// Package modal runs scripts in sandboxes of Modal, which has no public REST API: it speaks
// gRPC (grpc.go) with the messages of Modal's own client (wire.go).
//
// A sandbox of Modal cannot be stopped and started. One that is to be kept is stored as an
// image at the end, and the next one begins with that (snapshot.go). What all rented
// sandboxes share is in package rented. Start reading at New.
package modal

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/environment/rented"
)

// The environment variables of the two parts of a token, for messages.
const (
	idName     = "MODAL_TOKEN_ID"
	secretName = "MODAL_TOKEN_SECRET"
)

// Config says how to reach Modal and what to rent. The image is one of a registry, such as
// python:3.11; "" is debian:bookworm-slim. An address with plain HTTP needs an HTTP client
// that speaks HTTP/2 there.
type Config struct {
	rented.Config
	TokenID     string
	TokenSecret hermes.Secret
	// SnapshotFile is a file on this machine that remembers which image a sandbox was stored
	// as. It is needed if Persistent is set.
	SnapshotFile string
}

const (
	appName       = "hermes"
	clientVersion = "1.6.4" // of the client whose messages these are
	clientType    = "1"
	api           = "modal.client.ModalClient/"
	// idleTime is how long Modal keeps a sandbox without a command. When it ends, so do the
	// files; but one whose program has died costs money as long.
	idleTime = 4 * time.Hour
)

type service struct {
	*rented.Client
	inside *rented.Client // for the workers, without the token
	config Config

	mu    sync.Mutex
	app   string            // its id
	token string            // of this hour
	until time.Time         // when token ends
	tasks map[string]string // the task of each sandbox
}

// New makes a Runner. It sends no request yet.
func New(c Config) (*rented.Runner, error) {
	c.Lifetime = min(cmp.Or(c.Lifetime, 24*time.Hour), 24*time.Hour) // the longest that Modal gives
	c.Image = cmp.Or(c.Image, "debian:bookworm-slim")
	s := &service{config: c, tasks: map[string]string{}}
	s.Client = rented.NewClient(c.Config, "Modal", "https://api.modal.com", idName+" and "+secretName, func(h http.Header) {
		h.Set("x-modal-token-id", c.TokenID)
		h.Set("x-modal-token-secret", c.TokenSecret.Reveal())
		h.Set("x-modal-client-version", clientVersion)
		h.Set("x-modal-client-type", clientType)
	})
	s.inside = rented.NewClient(c.Config, "Modal", "", s.KeyName, func(http.Header) {})
	if _, err := url.ParseRequestURI(s.Base); err != nil {
		return nil, fmt.Errorf("the address of Modal: %w", err)
	}
	if c.Persistent && c.SnapshotFile == "" {
		return nil, errors.New("a sandbox of Modal that is kept needs a file for the names of stored images")
	}
	missing := rented.Missing([2]string{idName, c.TokenID}, [2]string{secretName, string(c.TokenSecret)})
	return rented.New(s, rented.About{Name: s.Name, Missing: missing}, c.Config), nil
}

func (s *service) Ping(ctx context.Context) error {
	_, err := call{client: s.Client, method: api + "ClientHello", again: true}.one(ctx)
	return err
}

// call calls a method of the API.
func (s *service) call(ctx context.Context, method string, body *fields, again bool) (message, error) {
	c := call{client: s.Client, method: api + method, body: *body, again: again}
	if strings.HasPrefix(method, "Sandbox") { // these want the token of this hour
		token, err := s.authToken(ctx)
		if err != nil {
			return message{}, err
		}
		c.header = map[string]string{"x-modal-auth-token": token}
	}
	return c.one(ctx)
}

// authToken returns a token that is valid for some minutes more.
func (s *service) authToken(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != "" && time.Until(s.until) > 5*time.Minute {
		return s.token, nil
	}
	answer, err := call{client: s.Client, method: api + "AuthTokenGet", again: true}.one(ctx)
	if err != nil {
		return "", err
	}
	s.token, s.until = answer.text(1), expiry(answer.text(1))
	return s.token, nil
}

// expiry reads when a JSON web token ends; one that does not tell is used for 20 minutes.
func expiry(token string) time.Time {
	var claims struct {
		Expires int64 `json:"exp"`
	}
	if parts := strings.Split(token, "."); len(parts) == 3 {
		if data, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil && json.Unmarshal(data, &claims) == nil && claims.Expires > 0 {
			return time.Unix(claims.Expires, 0)
		}
	}
	return time.Now().Add(20 * time.Minute)
}

// appID returns the id of the app that all sandboxes belong to.
func (s *service) appID(ctx context.Context) (string, error) {
	if s.app != "" { // only Find and Create come here, one after the other
		return s.app, nil
	}
	answer, err := s.call(ctx, "AppGetOrCreate", new(fields).text(1, appName).number(3, 1), true) // 1: create it if it is missing
	s.app = answer.text(1)
	return s.app, err
}

// tags writes the labels as field n.
func (s *service) tags(f *fields, n int) *fields {
	for name, value := range s.config.Labels() {
		f.message(n, *new(fields).text(1, name).text(2, value))
	}
	return f
}

func (s *service) Find(ctx context.Context) (string, error) {
	app, err := s.appID(ctx)
	if err != nil {
		return "", err
	}
	answer, err := s.call(ctx, "SandboxListV2", s.tags(new(fields).text(1, app), 5), true)
	if err != nil || !answer.has(1) {
		return "", err
	}
	box, err := answer.message(1)
	return box.text(1), err
}

func (s *service) Create(ctx context.Context) (string, error) {
	app, err := s.appID(ctx)
	if err != nil {
		return "", err
	}
	if s.config.Persistent {
		image, err := s.stored()
		if err != nil {
			return "", err
		}
		if image != "" {
			id, err := s.create(ctx, app, image)
			if !rented.Gone(err) {
				return id, err
			}
			if err := s.remember(""); err != nil { // Modal has deleted it
				return "", err
			}
		}
	}
	image, err := s.image(ctx, app)
	if err != nil {
		return "", err
	}
	return s.create(ctx, app, image)
}

func (s *service) create(ctx context.Context, app, image string) (string, error) {
	size := new(fields).number(2, uint64(s.config.Memory)).number(3, uint64(s.config.CPU*1000))
	box := new(fields).text(3, image).number(7, uint64(s.config.Lifetime.Seconds())).number(33, uint64(idleTime.Seconds()))
	box.message(5, *size).message(22, *new(fields).number(1, 1)) // network access: open
	answer, err := s.call(ctx, "SandboxCreateV2", s.tags(new(fields).text(1, app).message(2, *box), 4), false)
	return answer.text(1), err
}

// image returns the id of the image of the configuration, which Modal builds if it has not
// yet.
func (s *service) image(ctx context.Context, app string) (string, error) {
	settings, err := s.call(ctx, "EnvironmentGetOrCreate", new(fields), true)
	if err != nil {
		return "", err
	}
	meta, err := settings.message(2)
	if err != nil {
		return "", err
	}
	env, err := meta.message(2)
	if err != nil {
		return "", err
	}
	file := new(fields).text(6, "FROM "+s.config.Image)
	answer, err := s.call(ctx, "ImageGetOrCreate", new(fields).message(2, *file).text(4, app).text(9, env.text(1)), true)
	if err != nil {
		return "", err
	}
	return answer.text(1), s.built(ctx, answer.text(1))
}

// built waits for an image.
func (s *service) built(ctx context.Context, image string) error {
	entry, ready := "", false
	return s.Until(ctx, "the build of the image "+s.config.Image, func() (bool, error) {
		c := call{client: s.Client, method: api + "ImageJoinStreaming", body: *new(fields).text(1, image).float(2, 55).text(3, entry)}
		err := s.Repeat(ctx, true, func() (time.Duration, error) {
			return c.stream(ctx, func(m message) error {
				if m.has(3) {
					entry = m.text(3)
				}
				result, err := m.message(1)
				switch status := result.number(1); {
				case err != nil:
					return err
				case status == 1:
					ready = true
				case status != 0:
					return fmt.Errorf("%s cannot build the image %s: %s", s.Name, s.config.Image, result.text(2))
				}
				return nil
			})
		})
		return ready, err
	})
}

func (s *service) Wake(ctx context.Context, id string) (rented.Sandbox, bool, error) {
	answer, err := s.call(ctx, "SandboxWaitV2", new(fields).text(1, id).float(2, 0), true)
	if err != nil {
		return rented.Sandbox{}, false, err
	}
	result, err := answer.message(1)
	if err != nil {
		return rented.Sandbox{}, false, err
	}
	if status := result.number(1); status != 0 {
		return rented.Sandbox{}, false, rented.NewFailure(http.StatusGone, fmt.Sprintf("the sandbox %s of Modal has ended (status %d)", id, status))
	}
	task, woken := "", false
	err = s.Until(ctx, "the start of the sandbox", func() (bool, error) {
		answer, err := s.call(ctx, "SandboxGetTaskIdV2", new(fields).text(1, id), true)
		task = answer.text(1)
		woken = woken || task == ""
		return task != "", err
	})
	if err != nil {
		return rented.Sandbox{}, false, err
	}
	s.mu.Lock()
	s.tasks[id] = task
	s.mu.Unlock()
	box, err := s.access(ctx, id)
	return box, woken, err
}

// access asks for the address of the worker that runs a sandbox, and the token for it.
func (s *service) access(ctx context.Context, id string) (rented.Sandbox, error) {
	answer, err := s.call(ctx, "SandboxGetCommandRouterAccess", new(fields).text(1, id), true)
	if err != nil {
		return rented.Sandbox{}, err
	}
	address := strings.TrimRight(answer.text(2), "/")
	if !strings.HasPrefix(address, "https://") && strings.HasPrefix(s.Base, "https://") {
		return rented.Sandbox{}, fmt.Errorf("%s names the address %q for the sandbox, which is not https", s.Name, address)
	}
	return rented.Sandbox{ID: id, Address: address, Token: hermes.Secret(answer.text(1))}, nil
}

func (s *service) End(ctx context.Context, id string, keep bool) error {
	if keep {
		if err := s.store(ctx, id); err != nil {
			return err
		}
	}
	_, err := s.call(ctx, "SandboxTerminateV2", new(fields).text(1, id), true)
	return err
}
