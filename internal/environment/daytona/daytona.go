// Package daytona runs scripts in sandboxes of Daytona, over its public REST API.
//
// It owns the requests that make, start, stop and delete a sandbox (this file) and those
// that run a command in one (run.go). What all rented sandboxes share is in package rented.
package daytona

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hermes"
	"hermes/internal/environment/rented"
)

const keyName = "DAYTONA_API_KEY"

// Config says how to reach Daytona and what to rent.
type Config struct {
	rented.Config
	Key hermes.Secret
	// Target is the region; "" is the organization's default.
	Target string
}

// autoStop is after how many minutes without a request Daytona stops a sandbox whose
// program has died.
const autoStop = 30

type service struct {
	*rented.Client
	config   Config
	sessions sessions
}

// New makes a Runner. It sends no request yet. Without an image, the sandbox has Daytona's
// default one, whose size cannot be chosen.
func New(c Config) (*rented.Runner, error) {
	s := &service{config: c}
	s.Client = rented.NewClient(c.Config, "Daytona", "https://app.daytona.io/api", keyName, func(h http.Header) {
		h.Set("Authorization", "Bearer "+c.Key.Reveal())
	})
	if _, err := url.ParseRequestURI(s.Base); err != nil {
		return nil, fmt.Errorf("the address of Daytona: %w", err)
	}
	about := rented.About{Name: s.Name, Text: true, Missing: rented.Missing([2]string{keyName, string(c.Key)})}
	return rented.New(s, about, c.Config), nil
}

// sandbox is what is read of the service's description of a sandbox.
type sandbox struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	Reason  string `json:"errorReason"`
	Toolbox string `json:"toolboxProxyUrl"`
}

func (s *service) Ping(ctx context.Context) error {
	return s.Do(ctx, rented.Request{Method: "GET", Path: "/sandbox", Query: url.Values{"limit": {"1"}}, Again: true}, nil)
}

func (s *service) Find(ctx context.Context) (string, error) {
	labels, err := json.Marshal(s.config.Labels())
	if err != nil {
		return "", err
	}
	var list struct {
		Items []sandbox `json:"items"`
	}
	query := url.Values{"labels": {string(labels)}}
	if err := s.Do(ctx, rented.Request{Method: "GET", Path: "/sandbox", Query: query, Again: true}, &list); err != nil {
		return "", err
	}
	for _, box := range list.Items {
		if !slices.Contains([]string{"destroyed", "destroying", "error", "build_failed"}, box.State) {
			return box.ID, nil
		}
	}
	return "", nil
}

func (s *service) Create(ctx context.Context) (string, error) {
	order := map[string]any{"labels": s.config.Labels(), "autoStopInterval": autoStop}
	if s.config.Target != "" {
		order["target"] = s.config.Target
	}
	if !s.config.Persistent {
		order["autoDeleteInterval"] = 0 // as soon as it stops
	}
	if s.config.Image != "" {
		order["buildInfo"] = map[string]string{"dockerfileContent": "FROM " + s.config.Image + "\n"}
		whole := func(name string, amount float64) {
			if amount > 0 {
				order[name] = int(math.Ceil(amount))
			}
		}
		whole("cpu", s.config.CPU)
		whole("memory", float64(s.config.Memory)/1024)
		whole("disk", min(float64(s.config.Disk)/1024, 10)) // the most that Daytona gives
	}
	var box sandbox
	err := s.Do(ctx, rented.Request{Method: "POST", Path: "/sandbox", JSON: order}, &box)
	return box.ID, err
}

func (s *service) Wake(ctx context.Context, id string) (rented.Sandbox, bool, error) {
	var box sandbox
	woken := false
	err := s.Until(ctx, "the start of the sandbox", func() (bool, error) {
		if err := s.Do(ctx, rented.Request{Method: "GET", Path: "/sandbox/" + url.PathEscape(id), Again: true}, &box); err != nil {
			return false, err
		}
		switch box.State {
		case "started":
			return true, nil
		case "destroyed", "destroying":
			return false, rented.NewFailure(http.StatusGone, "Daytona has deleted the sandbox "+id)
		case "error", "build_failed":
			return false, fmt.Errorf("the sandbox %s of Daytona cannot be used (%s): %s", id, box.State, cmp.Or(box.Reason, "no reason given"))
		case "stopped", "archived", "paused":
			woken = true
			err := s.Do(ctx, rented.Request{Method: "POST", Path: "/sandbox/" + url.PathEscape(id) + "/start"}, nil)
			return false, err
		}
		woken = true
		return false, nil
	})
	if err != nil {
		return rented.Sandbox{}, false, err
	}
	address, err := s.toolbox(box)
	return rented.Sandbox{ID: box.ID, Address: address}, woken, err
}

// toolbox returns the address of what runs inside of a sandbox. The key goes there, too, so
// that it has to be as safe as the API.
func (s *service) toolbox(box sandbox) (string, error) {
	address := strings.TrimRight(box.Toolbox, "/")
	if !strings.HasPrefix(address, "https://") && strings.HasPrefix(s.Base, "https://") {
		return "", fmt.Errorf("%s names the address %q for the sandbox, which is not https", s.Name, box.Toolbox)
	}
	return address + "/" + url.PathEscape(box.ID), nil
}

func (s *service) Put(ctx context.Context, box rented.Sandbox, files []rented.File) error {
	var parts []rented.Part
	for i, f := range files {
		field := "files[" + strconv.Itoa(i) + "]"
		parts = append(parts, rented.Part{Name: field + ".path", Data: []byte(f.Path)}, rented.Part{Name: field + ".file", File: f.Path, Data: f.Data})
	}
	body, kind, err := rented.Form(parts...)
	if err != nil {
		return err
	}
	return s.Do(ctx, rented.Request{
		Method: "POST", Base: box.Address, Path: "/files/bulk-upload",
		Body: body, Type: kind, Again: true,
	}, nil)
}

func (s *service) End(ctx context.Context, id string, keep bool) error {
	r := rented.Request{Method: "DELETE", Path: "/sandbox/" + url.PathEscape(id), Again: true}
	if keep {
		r = rented.Request{Method: "POST", Path: "/sandbox/" + url.PathEscape(id) + "/stop", Query: url.Values{"force": {"false"}}, Again: true}
	}
	return s.Do(ctx, r, nil)
}
