// Package vercel runs scripts in sandboxes of Vercel, over its public REST API.
//
// A sandbox has a name, and while it runs a session: commands go to the session (run.go),
// everything else to the name (this file). What all rented sandboxes share is in package
// rented.
package vercel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"time"

	"hermes"
	"hermes/internal/environment/rented"
)

// The environment variables of what Config has to have, for messages.
const (
	tokenName   = "VERCEL_TOKEN"
	teamName    = "VERCEL_TEAM_ID"
	projectName = "VERCEL_PROJECT_ID"
)

// Config says how to reach Vercel and what to rent. The image is the runtime, such as
// node24. A sandbox has 2 GB of memory for each CPU and a fixed disk.
type Config struct {
	rented.Config
	Token         hermes.Secret
	Team, Project string // their ids
}

type service struct {
	*rented.Client
	config Config
}

// New makes a Runner. It sends no request yet.
func New(c Config) (*rented.Runner, error) {
	c.Lifetime = cmp.Or(c.Lifetime, 45*time.Minute) // the longest of the free plan
	s := &service{config: c}
	s.Client = rented.NewClient(c.Config, "Vercel", "https://vercel.com/api", tokenName, func(h http.Header) {
		h.Set("Authorization", "Bearer "+c.Token.Reveal())
	})
	if _, err := url.ParseRequestURI(s.Base); err != nil {
		return nil, fmt.Errorf("the address of Vercel: %w", err)
	}
	missing := rented.Missing([2]string{tokenName, string(c.Token)}, [2]string{teamName, c.Team}, [2]string{projectName, c.Project})
	return rented.New(s, rented.About{Name: s.Name, Text: true, Missing: missing}, c.Config), nil
}

// answer is what is read of the service's answers about a sandbox.
type answer struct {
	Sandbox struct {
		Name string `json:"name"`
	} `json:"sandbox"`
	Session struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	} `json:"session"`
	Resumed bool `json:"resumed"`
}

// query returns the parameters of every request, and more in pairs.
func (s *service) query(more ...string) url.Values {
	q := url.Values{"teamId": {s.config.Team}}
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return q
}

func (s *service) named(name string) string { return "/v2/sandboxes/" + url.PathEscape(name) }

func (s *service) Ping(ctx context.Context) error {
	q := s.query("project", s.config.Project, "limit", "1")
	return s.Do(ctx, rented.Request{Method: "GET", Path: "/v2/sandboxes", Query: q, Again: true}, nil)
}

func (s *service) Find(ctx context.Context) (string, error) {
	var a answer
	q := s.query("projectId", s.config.Project, "resume", "false")
	err := s.Do(ctx, rented.Request{Method: "GET", Path: s.named(s.config.Name()), Query: q, Again: true}, &a)
	if rented.Gone(err) {
		return "", nil
	}
	return a.Sandbox.Name, err
}

func (s *service) Create(ctx context.Context) (string, error) {
	order := map[string]any{
		"projectId": s.config.Project, "name": s.config.Name(), "tags": s.config.Labels(),
		"persistent": s.config.Persistent, "timeout": s.config.Lifetime.Milliseconds(),
	}
	path := "/v3/sandboxes"
	if s.config.Image != "" {
		path, order["runtime"] = "/v2/sandboxes", s.config.Image
	}
	if s.config.CPU > 0 {
		order["resources"] = map[string]int{"vcpus": int(math.Ceil(s.config.CPU))}
	}
	var a answer
	err := s.Do(ctx, rented.Request{Method: "POST", Path: path, Query: s.query(), JSON: order}, &a)
	return a.Sandbox.Name, err
}

func (s *service) Wake(ctx context.Context, id string) (rented.Sandbox, bool, error) {
	var a answer
	woken := false
	err := s.Until(ctx, "the start of the sandbox", func() (bool, error) {
		q := s.query("projectId", s.config.Project, "resume", "true")
		if err := s.Do(ctx, rented.Request{Method: "GET", Path: s.named(id), Query: q, Again: true}, &a); err != nil {
			return false, err
		}
		woken = woken || a.Resumed
		switch a.Session.Status {
		case "running":
			return true, nil
		case "stopped", "failed", "aborted": // and could not be resumed
			gone := rented.NewFailure(http.StatusGone, "the sandbox "+id+" of Vercel has ended: "+a.Session.Status)
			if err := s.End(ctx, id, false); err != nil && !rented.Gone(err) { // its name is needed
				return false, errors.Join(gone, err)
			}
			return false, gone
		}
		woken = true
		return false, nil
	})
	return rented.Sandbox{ID: id, Address: "/v2/sandboxes/sessions/" + url.PathEscape(a.Session.ID)}, woken, err
}

func (s *service) End(ctx context.Context, id string, keep bool) error {
	q := s.query("projectId", s.config.Project)
	if !keep {
		return s.Do(ctx, rented.Request{Method: "DELETE", Path: s.named(id), Query: q, Again: true}, nil)
	}
	var a answer
	q.Set("resume", "false")
	if err := s.Do(ctx, rented.Request{Method: "GET", Path: s.named(id), Query: q, Again: true}, &a); err != nil {
		return err
	}
	if a.Session.Status != "running" && a.Session.Status != "pending" {
		return nil
	}
	path := "/v2/sandboxes/sessions/" + url.PathEscape(a.Session.ID) + "/stop"
	return s.Do(ctx, rented.Request{Method: "POST", Path: path, Query: s.query(), Again: true}, nil)
}
