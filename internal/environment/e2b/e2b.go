// Package e2b runs scripts in sandboxes of E2B, over its public REST API and, inside of a
// sandbox, over the Connect protocol of its daemon (run.go).
//
// The key goes to the API only; a sandbox has a token of its own. What all rented sandboxes
// share is in package rented.
package e2b

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hermes"
	"hermes/internal/environment/rented"
)

const keyName = "E2B_API_KEY"

// Config says how to reach E2B and what to rent. The image is a template, which has its own
// size; "" is base.
type Config struct {
	rented.Config
	Key hermes.Secret
	// SandboxURL is the address of what runs in all sandboxes; "" is one for each below the
	// domain that the API names.
	SandboxURL string
}

const (
	domain = "e2b.app"
	port   = "49983" // of the daemon
)

type service struct {
	*rented.Client
	inside *rented.Client // without the key
	config Config
}

// New makes a Runner. It sends no request yet.
func New(c Config) (*rented.Runner, error) {
	c.Lifetime = cmp.Or(c.Lifetime, time.Hour) // the longest of the free plan
	c.Image = cmp.Or(c.Image, "base")
	s := &service{config: c}
	s.Client = rented.NewClient(c.Config, "E2B", "https://api."+domain, keyName, func(h http.Header) {
		h.Set("X-API-KEY", c.Key.Reveal())
	})
	s.inside = rented.NewClient(c.Config, "E2B", "", keyName, func(http.Header) {})
	if _, err := url.ParseRequestURI(s.Base); err != nil {
		return nil, fmt.Errorf("the address of E2B: %w", err)
	}
	about := rented.About{Name: s.Name, Renew: c.Lifetime / 4, Missing: rented.Missing([2]string{keyName, string(c.Key)})}
	return rented.New(s, about, c.Config), nil
}

// sandbox is what is read of the API's answers.
type sandbox struct {
	ID     string        `json:"sandboxID"`
	Domain string        `json:"domain"`
	Token  hermes.Secret `json:"envdAccessToken"`
}

func (s *service) Ping(ctx context.Context) error {
	return s.Do(ctx, rented.Request{Method: "GET", Path: "/v2/sandboxes", Query: url.Values{"limit": {"1"}}, Again: true}, nil)
}

func (s *service) Find(ctx context.Context) (string, error) {
	labels := url.Values{}
	for name, value := range s.config.Labels() {
		labels.Set(name, value)
	}
	var list []sandbox
	query := url.Values{"metadata": {labels.Encode()}, "state": {"running,paused"}}
	err := s.Do(ctx, rented.Request{Method: "GET", Path: "/v2/sandboxes", Query: query, Again: true}, &list)
	if err != nil || len(list) == 0 {
		return "", err
	}
	return list[0].ID, nil
}

func (s *service) Create(ctx context.Context) (string, error) {
	var box sandbox
	err := s.Do(ctx, rented.Request{Method: "POST", Path: "/v2/sandboxes", JSON: map[string]any{
		"templateID": s.config.Image, "metadata": s.config.Labels(), "envVars": map[string]string{},
		"timeout": int(s.config.Lifetime.Seconds()), "autoPause": s.config.Persistent,
	}}, &box)
	return box.ID, err
}

// Wake connects to the sandbox, which starts it if it is paused and sets its time back to
// the whole lifetime.
func (s *service) Wake(ctx context.Context, id string) (rented.Sandbox, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	resp, err := s.Open(ctx, rented.Request{
		Method: "POST", Path: "/v2/sandboxes/" + url.PathEscape(id) + "/connect",
		JSON: map[string]int{"timeout": int(s.config.Lifetime.Seconds())}, Again: true,
	})
	if err != nil {
		return rented.Sandbox{}, false, err
	}
	defer resp.Body.Close()
	var box sandbox
	if err := json.NewDecoder(resp.Body).Decode(&box); err != nil {
		return rented.Sandbox{}, false, fmt.Errorf("E2B: its answer cannot be read: %w", err)
	}
	address := strings.TrimRight(s.config.SandboxURL, "/")
	if address == "" {
		address = "https://" + port + "-" + box.ID + "." + cmp.Or(box.Domain, domain)
	}
	return rented.Sandbox{ID: box.ID, Address: address, Token: box.Token}, resp.StatusCode == http.StatusCreated, nil
}

func (s *service) End(ctx context.Context, id string, keep bool) error {
	path := "/sandboxes/" + url.PathEscape(id)
	if !keep {
		return s.Do(ctx, rented.Request{Method: "DELETE", Path: path, Again: true}, nil)
	}
	err := s.Do(ctx, rented.Request{Method: "POST", Path: path + "/pause", JSON: map[string]any{}, Again: true}, nil)
	if f, ok := errors.AsType[*rented.Failure](err); ok && f.Status == http.StatusConflict { // it is paused
		return nil
	}
	return err
}

func (s *service) Put(ctx context.Context, box rented.Sandbox, files []rented.File) error {
	for _, f := range files {
		body, kind, err := rented.Form(rented.Part{Name: "file", File: f.Path, Data: f.Data})
		if err != nil {
			return err
		}
		r := request(box, "/files", body, kind)
		r.Query, r.Again = url.Values{"path": {f.Path}}, true
		if err := s.inside.Do(ctx, r, nil); err != nil {
			return stopped(err)
		}
	}
	return nil
}

// request makes a request to what runs in a sandbox.
func request(box rented.Sandbox, path string, body []byte, kind string) rented.Request {
	header := map[string]string{"E2b-Sandbox-Id": box.ID, "E2b-Sandbox-Port": port}
	if token := box.Token.Reveal(); token != "" {
		header["X-Access-Token"] = token
	}
	return rented.Request{Method: "POST", Base: box.Address, Path: path, Body: body, Type: kind, Header: header}
}

// stopped recognises what the proxy in front of sandboxes answers for one that does not
// run: 502, which means for others that the outcome is unknown.
func stopped(err error) error {
	f, ok := errors.AsType[*rented.Failure](err)
	if ok && f.Status == http.StatusBadGateway && strings.Contains(f.Error(), "sandbox was not found") {
		return rented.NewFailure(http.StatusNotFound, f.Error())
	}
	return err
}
