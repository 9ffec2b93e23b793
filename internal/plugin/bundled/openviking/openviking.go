// Package openviking is the plugin that remembers with OpenViking, a database for context that looks like
// a file system, on a server of the user. What it sends is what the client openviking-sdk sends
// (.ci/slow plugins compares them). Start at New; tools.go has the tools.
package openviking

import (
	"context"
	"embed"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"hermes/internal/plugin/bundled/found"
	"hermes/internal/plugin/bundled/rest"
	"hermes/internal/plugin/sdk"
)

// Files are the manifest and what it says to users.
//
//go:embed plugin.yaml README.md
var Files embed.FS

// Name is that of the plugin, and Key the variable of its key.
const (
	Name = "openviking"
	Key  = "OPENVIKING_API_KEY"
)

// Config is what the plugin runs on.
type Config struct {
	Version, Base, Key string
	// Account and User are for servers that trust who asks; "" sends none.
	Account, User string
	HTTP          *http.Client
}

// New makes the plugin.
func New(c Config) *sdk.Plugin {
	s := &service{sessions: map[string]bool{}}
	s.Client = &rest.Client{Service: "OpenViking", Base: c.Base, HTTP: c.HTTP, Advice: advice, Authorize: func(_ context.Context, h http.Header) error {
		for name, value := range map[string]string{"X-API-Key": c.Key, "X-OpenViking-Account": c.Account, "X-OpenViking-User": c.User} {
			if value != "" {
				h.Set(name, value)
			}
		}
		return nil
	}}
	return &sdk.Plugin{
		Name: Name, Version: c.Version, Tools: s.tools(),
		Memory: &sdk.Memory{Recall: s.recall, Observe: s.observe, Commands: []sdk.MemoryCommand{found.Command(s.recall)}},
		Hooks:  []sdk.Hook{{Event: "on_session_end", Timeout: 60, Run: s.ended}},
	}
}

func advice(f *rest.Failure) string {
	switch f.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "check " + Key
	case http.StatusNotFound:
		return "viking_browse shows what there is"
	}
	return ""
}

// service is a server of OpenViking, with the sessions that have messages which it did not work on.
type service struct {
	*rest.Client

	mu       sync.Mutex
	sessions map[string]bool // false once they are worked on
}

// ask sends a request and returns its result.
func (s *service) ask(ctx context.Context, method, path string, query url.Values, body, result any) error {
	_, err := s.Do(ctx, method, "/api/v1"+path, query, body, &struct {
		Result any `json:"result"`
	}{result})
	return err
}

// match is something that was found.
type match struct {
	URI      string  `json:"uri"`
	Abstract string  `json:"abstract"`
	Score    float64 `json:"score"`
	Level    int     `json:"level"`
}

type matches struct {
	Memories  []match `json:"memories"`
	Resources []match `json:"resources"`
	Skills    []match `json:"skills"`
}

func (s *service) find(ctx context.Context, query, below string, limit int) (m matches, err error) {
	err = s.ask(ctx, http.MethodPost, "/search/find", nil, map[string]any{"query": found.Query(query), "target_uri": below, "limit": limit}, &m)
	return m, err
}

func (s *service) recall(ctx context.Context, _ *sdk.Call, query string, limit int) (string, error) {
	m, err := s.find(ctx, query, "", 8)
	var texts []string
	for _, list := range [][]match{m.Memories, m.Resources, m.Skills} {
		for _, one := range list {
			if one.Abstract != "" {
				texts = append(texts, one.Abstract+" ("+one.URI+")")
			}
		}
	}
	return found.List(texts, limit), err
}

// session is the id of a session at the service.
func session(c *sdk.Call) string {
	return "hermes-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, c.Session.ID)
}

// say adds messages to a session, which is made first.
func (s *service) say(ctx context.Context, id string, messages ...[2]string) error {
	s.mu.Lock()
	_, made := s.sessions[id]
	s.mu.Unlock()
	if !made {
		err := s.ask(ctx, http.MethodPost, "/sessions", nil, map[string]string{"session_id": id}, nil)
		if f, ok := err.(*rest.Failure); err != nil && !(ok && f.Status == http.StatusConflict) { // it may be there from an earlier process
			return err
		}
	}
	s.mark(id, true)
	for _, m := range messages {
		if err := s.ask(ctx, http.MethodPost, "/sessions/"+id+"/messages", nil, map[string]string{"role": m[0], "content": m[1]}, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *service) mark(id string, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[id] = open
}

func (s *service) observe(ctx context.Context, c *sdk.Call, t sdk.Turn) error {
	return s.say(ctx, session(c), [2]string{"user", t.Said}, [2]string{"assistant", t.Answer})
}

// ended has the service draw memories from a session that is over. One that ends otherwise is worked on
// when it goes on and ends.
func (s *service) ended(ctx context.Context, c *sdk.Call, _ sdk.Event) (sdk.Verdict, error) {
	id := session(c)
	s.mu.Lock()
	open := s.sessions[id]
	s.mu.Unlock()
	if !open {
		return sdk.Verdict{}, nil
	}
	if err := s.ask(ctx, http.MethodPost, "/sessions/"+id+"/commit", nil, map[string]int{"keep_recent_count": 0}, nil); err != nil {
		return sdk.Verdict{}, err
	}
	s.mark(id, false)
	return sdk.Verdict{}, nil
}
