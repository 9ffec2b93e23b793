package setting

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Defaults of settings.
const (
	defaultCall      = 300 * time.Second
	defaultConnect   = 60 * time.Second
	defaultKeepAlive = 180 * time.Second
	minKeepAlive     = 5 * time.Second
	defaultElicit    = 300 * time.Second
	defaultSample    = 30 * time.Second
	defaultTokens    = 4096
	defaultPerMinute = 10
)

// Parse reads the settings of a server from what JSON or YAML made of them. notes are
// what is ignored, worded for the user. An error is about this server only; it says what to do.
func Parse(name string, raw any, v Vars) (s Server, notes []string, err error) {
	m, ok := raw.(map[string]any)
	if !ok {
		return s, nil, fmt.Errorf("the MCP server %q is not a mapping with a command or a url", name)
	}
	if Slug(name) == "" {
		return s, nil, fmt.Errorf("the MCP server %q needs a name with a letter or digit", name)
	}
	m, unset := v.Expand(m)
	for _, n := range unset {
		notes = append(notes, fmt.Sprintf("MCP server %s: ${%s} is not set; the text is used as written", name, n))
	}
	notes = append(notes, unknownKeys(name, m)...)
	bytes, err := json.Marshal(m)
	if err != nil {
		return s, notes, fmt.Errorf("the settings of the MCP server %s: %w", name, err)
	}
	var f file
	if err := json.Unmarshal(bytes, &f); err != nil {
		return s, notes, fmt.Errorf("the settings of the MCP server %s: %s", name, plainJSON(err))
	}
	s, err = f.settings(name, v)
	if err != nil {
		return s, notes, fmt.Errorf("the MCP server %s: %w", name, err)
	}
	return s, notes, nil
}

// plainJSON says what has the wrong type, without words of Go.
func plainJSON(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s cannot be a %s", e.Field, e.Value)
	}
	return err.Error()
}

// known are the keys that have an effect; those of others programs that have none are ignored
// with a note, as are misspelled ones.
func unknownKeys(name string, m map[string]any) []string {
	known := []string{
		"command", "args", "env", "cwd", "reach", "skip_preflight", "url", "serverUrl", "headers", "transport", "type", "auth", "oauth",
		"client_cert", "client_key", "identity_header", "ssl_verify", "protocol", "timeout", "connect_timeout", "keepalive_interval",
		"idle_timeout_seconds", "max_lifetime_seconds", "trust", "enabled", "disabled", "supports_parallel_tool_calls", "tools", "elicitation", "sampling",
	}
	below := map[string][]string{
		"reach": {"hosts", "read", "write"}, "tools": {"include", "exclude", "resources", "prompts"}, "elicitation": {"enabled", "timeout"},
		"sampling": {"enabled", "model", "allowed_models", "max_tokens_cap", "max_rpm", "timeout"},
		"oauth":    {"client_id", "client_secret", "client_name", "scope", "redirect_port", "redirect_host", "redirect_uri", "flow", "client_metadata_url"},
	}
	var notes []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(known, key) {
			notes = append(notes, fmt.Sprintf("MCP server %s: the key %q is not known and has no effect", name, key))
		}
		sub, _ := m[key].(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(sub)) {
			if list := below[key]; list != nil && !slices.Contains(list, k) {
				notes = append(notes, fmt.Sprintf("MCP server %s: the key %q is not known and has no effect", name, key+"."+k))
			}
		}
	}
	return notes
}

func (f file) settings(name string, v Vars) (Server, error) {
	s := Server{
		Name: name, Program: Program{Dir: f.Dir, Env: map[string]string{}, SkipPreflight: f.SkipPre}, Parallel: f.Parallel,
		Disabled: f.Disabled || f.Enabled != nil && !*f.Enabled,
		// An unknown word means the careful one.
		Untrusted: f.Trust != nil && *f.Trust != "full",
		Tools:     Filter{Resources: true, Prompts: true},
	}
	if t := f.Tools; t != nil {
		s.Tools = Filter{Include: t.Include, Exclude: t.Exclude, Resources: t.Resources == nil || *t.Resources, Prompts: t.Prompts == nil || *t.Prompts}
	}
	for _, p := range slices.Concat(s.Tools.Include, s.Tools.Exclude) {
		if !goodPattern(p) {
			return s, fmt.Errorf("the pattern %q in tools is malformed; * means any text, ? one character", p)
		}
	}
	var err error
	if s.Times, err = f.times(); err != nil {
		return s, err
	}
	if s.Elicitation, s.Sampling, err = f.asks(); err != nil {
		return s, err
	}
	switch f.Protocol {
	case "", "auto":
	case ProtocolStateless, ProtocolLegacy:
		s.Protocol = f.Protocol
	default:
		return s, fmt.Errorf("protocol is %q; use auto, stateless or legacy", f.Protocol)
	}
	if f.URL == "" {
		f.URL = f.ServerURL
	}
	if f.URL != "" { // also when there is a command
		s.Remote, err = f.remote()
		return s, err
	}
	if f.Command == "" {
		return s, errors.New("it has neither a command nor a url; give it one of them")
	}
	return s, f.program(&s, v)
}

// program reads how the server is started.
func (f file) program(s *Server, v Vars) error {
	if t := strings.ToLower(f.Type); t != "" && t != "stdio" {
		return fmt.Errorf("type is %q, but it has a command and no url", f.Type)
	}
	s.Command = f.Command
	for _, a := range f.Args {
		s.Args = append(s.Args, string(a))
	}
	for k, val := range f.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.ContainsRune(string(val), 0) {
			return fmt.Errorf("env has the name %q, which no variable can have", k)
		}
		s.Env[k] = string(val)
	}
	if slices.ContainsFunc(append([]string{s.Command, s.Dir}, s.Args...), func(a string) bool { return strings.ContainsRune(a, 0) }) {
		return errors.New("the command has a NUL character")
	}
	s.Dir = v.path(s.Dir)
	if s.Dir != "" && !filepath.IsAbs(s.Dir) {
		return fmt.Errorf("cwd is %q; write an absolute path", f.Dir)
	}
	if f.Reach == nil {
		return nil
	}
	for _, h := range f.Reach.Hosts {
		if !strings.Contains(h, ":") {
			h += ":443"
		}
		s.Reach.Hosts = append(s.Reach.Hosts, h)
	}
	for _, list := range []struct {
		from []string
		into *[]string
	}{{f.Reach.Read, &s.Reach.Read}, {f.Reach.Write, &s.Reach.Write}} {
		for _, p := range list.from {
			if p = v.path(p); !filepath.IsAbs(p) {
				return fmt.Errorf("reach names the path %q; write an absolute path", p)
			}
			*list.into = append(*list.into, filepath.Clean(p))
		}
	}
	return nil
}

func (f file) times() (Times, error) {
	t := Times{Call: defaultCall, Connect: defaultConnect, KeepAlive: defaultKeepAlive}
	for _, row := range []struct {
		key  string
		from *scalar
		into *time.Duration
	}{
		{"timeout", f.Timeout, &t.Call}, {"connect_timeout", f.Connect, &t.Connect}, {"keepalive_interval", f.KeepAlive, &t.KeepAlive},
		{"idle_timeout_seconds", f.Idle, &t.Idle}, {"max_lifetime_seconds", f.Lifetime, &t.Lifetime},
	} {
		if err := seconds(row.key, row.from, row.into); err != nil {
			return t, err
		}
	}
	if t.Call == 0 || t.Connect == 0 {
		return t, errors.New("timeout and connect_timeout must be more than 0 seconds")
	}
	if t.KeepAlive > 0 {
		t.KeepAlive = max(t.KeepAlive, minKeepAlive)
	}
	return t, nil
}

// seconds reads a number of seconds.
func seconds(key string, from *scalar, into *time.Duration) error {
	if from == nil || *from == "null" {
		return nil
	}
	n, err := strconv.ParseFloat(string(*from), 64)
	if err != nil || n < 0 || n > 1e7 {
		return fmt.Errorf("%s is %q; write a number of seconds", key, *from)
	}
	*into = time.Duration(n * float64(time.Second))
	return nil
}

func (f file) asks() (Elicitation, Sampling, error) {
	e := Elicitation{Timeout: defaultElicit}
	s := Sampling{MaxTokens: defaultTokens, PerMinute: defaultPerMinute, Timeout: defaultSample}
	if x := f.Elicitation; x != nil {
		e.Disabled = x.Enabled != nil && !*x.Enabled
		if err := seconds("elicitation.timeout", x.Timeout, &e.Timeout); err != nil {
			return e, s, err
		}
	}
	if x := f.Sampling; x != nil {
		s.Disabled, s.Model, s.Allowed = x.Enabled != nil && !*x.Enabled, x.Model, x.Allowed
		if x.MaxTokens > 0 {
			s.MaxTokens = x.MaxTokens
		}
		if x.PerMinute > 0 {
			s.PerMinute = x.PerMinute
		}
		if err := seconds("sampling.timeout", x.Timeout, &s.Timeout); err != nil {
			return e, s, err
		}
	}
	return e, s, nil
}

func goodPattern(p string) bool {
	_, err := path.Match(p, "")
	return err == nil && p != ""
}
