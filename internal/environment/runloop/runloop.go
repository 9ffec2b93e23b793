// Package runloop runs scripts in devboxes of Runloop, over its public REST API.
//
// It owns the requests that make, resume, suspend and shut down a devbox (this file) and
// those that run a command in one (run.go). What all rented sandboxes share is in package
// rented.
package runloop

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"hermes"
	"hermes/internal/environment/rented"
)

const keyName = "RUNLOOP_API_KEY"

// Config says how to reach Runloop and what to rent. The image is the name of a blueprint,
// which has its own size.
type Config struct {
	rented.Config
	Key hermes.Secret
}

const (
	// idle is after how long without use Runloop suspends or ends a devbox whose program
	// has died.
	idle = 30 * time.Minute
	// mostPages bounds the search for a devbox among many.
	mostPages = 50
)

type service struct {
	*rented.Client
	config Config
}

// New makes a Runner. It sends no request yet.
func New(c Config) (*rented.Runner, error) {
	c.Temp = "~" // the service takes paths below the home folder
	c.Lifetime = cmp.Or(c.Lifetime, 24*time.Hour)
	s := &service{config: c}
	s.Client = rented.NewClient(c.Config, "Runloop", "https://api.runloop.ai", keyName, func(h http.Header) {
		h.Set("Authorization", "Bearer "+c.Key.Reveal())
	})
	if _, err := url.ParseRequestURI(s.Base); err != nil {
		return nil, fmt.Errorf("the address of Runloop: %w", err)
	}
	about := rented.About{Name: s.Name, Text: true, Missing: rented.Missing([2]string{keyName, string(c.Key)})}
	return rented.New(s, about, c.Config), nil
}

// devbox is what is read of the service's description of a devbox.
type devbox struct {
	ID       string            `json:"id"`
	Status   string            `json:"status"`
	Metadata map[string]string `json:"metadata"`
}

func path(id string) string { return "/v1/devboxes/" + url.PathEscape(id) }

func (s *service) Ping(ctx context.Context) error {
	return s.Do(ctx, rented.Request{Method: "GET", Path: "/v1/devboxes", Query: url.Values{"limit": {"1"}}, Again: true}, nil)
}

func (s *service) Find(ctx context.Context) (string, error) {
	for _, status := range []string{"running", "suspended", "suspending", "resuming", "provisioning", "initializing"} {
		id, err := s.findWith(ctx, status)
		if id != "" || err != nil {
			return id, err
		}
	}
	return "", nil
}

// findWith looks through the devboxes with one status, since the service cannot look for
// metadata.
func (s *service) findWith(ctx context.Context, status string) (string, error) {
	query := url.Values{"status": {status}, "limit": {"100"}}
	for range mostPages {
		var list struct {
			Devboxes []devbox `json:"devboxes"`
			More     bool     `json:"has_more"`
		}
		if err := s.Do(ctx, rented.Request{Method: "GET", Path: "/v1/devboxes", Query: query, Again: true}, &list); err != nil {
			return "", err
		}
		for _, box := range list.Devboxes {
			if s.ours(box) {
				return box.ID, nil
			}
		}
		if !list.More || len(list.Devboxes) == 0 {
			break
		}
		query.Set("starting_after", list.Devboxes[len(list.Devboxes)-1].ID)
	}
	return "", nil
}

func (s *service) ours(box devbox) bool {
	for name, value := range s.config.Labels() {
		if box.Metadata[name] != value {
			return false
		}
	}
	return true
}

func (s *service) Create(ctx context.Context) (string, error) {
	then := "shutdown"
	if s.config.Persistent {
		then = "suspend"
	}
	order := map[string]any{
		"name": s.config.Name(), "metadata": s.config.Labels(),
		"launch_parameters": map[string]any{
			"keep_alive_time_seconds": int(s.config.Lifetime.Seconds()),
			"after_idle":              map[string]any{"idle_time_seconds": int(idle.Seconds()), "on_idle": then},
		},
	}
	if s.config.Image != "" {
		order["blueprint_name"] = s.config.Image
	}
	var box devbox
	err := s.Do(ctx, rented.Request{Method: "POST", Path: "/v1/devboxes", JSON: order}, &box)
	return box.ID, err
}

func (s *service) Wake(ctx context.Context, id string) (rented.Sandbox, bool, error) {
	woken := false
	err := s.Until(ctx, "the start of the devbox", func() (bool, error) {
		var box devbox
		if err := s.Do(ctx, rented.Request{Method: "GET", Path: path(id), Again: true}, &box); err != nil {
			return false, err
		}
		switch box.Status {
		case "running":
			return true, nil
		case "failure", "shutdown":
			return false, rented.NewFailure(http.StatusGone, "the devbox "+id+" of Runloop has ended: "+box.Status)
		case "suspended":
			woken = true
			return false, s.Do(ctx, rented.Request{Method: "POST", Path: path(id) + "/resume", JSON: map[string]any{}}, nil)
		}
		woken = true
		return false, nil
	})
	return rented.Sandbox{ID: id}, woken, err
}

func (s *service) End(ctx context.Context, id string, keep bool) error {
	verb := "/shutdown"
	if keep {
		verb = "/suspend"
	}
	return s.Do(ctx, rented.Request{Method: "POST", Path: path(id) + verb, JSON: map[string]any{}, Again: true}, nil)
}

func (s *service) Put(ctx context.Context, box rented.Sandbox, files []rented.File) error {
	for _, f := range files {
		body, kind, err := rented.Form(rented.Part{Name: "path", Data: []byte(f.Path)}, rented.Part{Name: "file", File: f.Path, Data: f.Data})
		if err != nil {
			return err
		}
		err = s.Do(ctx, rented.Request{
			Method: "POST", Path: path(box.ID) + "/upload_file", Body: body, Type: kind, Again: true,
		}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}
