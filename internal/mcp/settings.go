package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes/internal/text"
)

// Settings are those of one server, as `mcp_servers` of the configuration and the files
// `.mcp.json` of other programs have them. Read with [ParseServer].
type Settings struct {
	// Name is the server's, as the user chose it.
	Name string
	// Program is started, and speaks over its standard streams; it is empty for a service.
	Program
	// Remote is the service to connect to; it is nil for a program.
	Remote *Remote
	Times  Times
	// Tools filters what is offered.
	Tools       Filter
	Elicitation Elicitation
	Sampling    Sampling
	// Untrusted servers need approval for each tool that does not say that it only reads.
	Untrusted bool
	Disabled  bool
	// Parallel says that calls may run at the same time.
	Parallel bool
	// Protocol is "", ProtocolStateless or ProtocolLegacy.
	Protocol string
	// Project is the folder of the project that brings the server along; "" is the user's own.
	Project string
}

// Program is a server that runs on this machine.
type Program struct {
	// Command and Args start it, with Env in addition to basic variables, in the folder Dir.
	Command string
	Args    []string
	Env     map[string]string
	Dir     string
	// Reach is what it may reach beyond what every server may.
	Reach Reach
	// SkipPreflight starts a package without looking it up in the list of known malware.
	SkipPreflight bool
}

// ID names the server among those of the user and of all projects.
func (s Settings) ID() string {
	if s.Project == "" {
		return s.Name
	}
	return s.Name + " of " + s.Project
}

// The protocols that a server can be bound to: 2026-07-28, or those before it.
const (
	ProtocolStateless = "stateless"
	ProtocolLegacy    = "legacy"
)

// Remote is a server that is reached by HTTP.
type Remote struct {
	URL     string
	SSE     bool // the transport of the protocol 2024-11-05
	Headers map[string]string
	// IdentityHeader names the header that says whose request it is; "" is none.
	IdentityHeader string
	OAuth          *OAuth // nil: none
	TLS            TLS
}

// OAuth is how to log in to a server.
type OAuth struct {
	ClientID, ClientSecret, ClientName, Scope string
	// RedirectPort is the port of 127.0.0.1 for the answer of the browser; 0 is any.
	RedirectPort int
	RedirectHost string
	// RedirectURI replaces the address that is made of host and port.
	RedirectURI string
	// Device logs in with a code that is typed on another device.
	Device bool
	// MetadataURL is the address of a client metadata document; "" is none.
	MetadataURL string
}

// TLS is how the server and the client prove who they are.
type TLS struct {
	Cert, Key string // files of the client's certificate
	CA        string // a file with the authorities to accept; "" is the system's
	Insecure  bool   // accepts any certificate
}

// Times bound what a server does. Zero KeepAlive, Idle and Lifetime mean never.
type Times struct {
	Call, Connect             time.Duration
	KeepAlive, Idle, Lifetime time.Duration
}

// Filter says which tools of a server are offered, by their original names. If Include is not
// empty, Exclude has no effect. Resources and Prompts offer the tools for those.
type Filter struct {
	Include, Exclude   []string // patterns of path.Match
	Resources, Prompts bool
}

// Reach is what a program may reach.
type Reach struct {
	Hosts       []string // host:port; without a port, 443
	Read, Write []string // absolute paths
}

// Elicitation is how a server may ask the user.
type Elicitation struct {
	Disabled bool
	Timeout  time.Duration
}

// Sampling is how a server may use a model.
type Sampling struct {
	Disabled  bool
	Model     string
	Allowed   []string // models that the server may choose; empty means none
	MaxTokens int
	PerMinute int
	Timeout   time.Duration
}

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

// Vars are what values of settings may name.
type Vars struct {
	// Lookup returns an environment variable; nil knows none.
	Lookup func(name string) (string, bool)
	// Home is the user's home folder, Workspace the folder in which sessions work.
	Home, Workspace string
}

// file is the settings of a server as they are written.
type file struct {
	fileProgram
	fileRemote
	fileTimes
	fileRights
}

type fileProgram struct {
	Command string            `json:"command"`
	Args    []scalar          `json:"args"`
	Env     map[string]scalar `json:"env"`
	Dir     string            `json:"cwd"`
	Reach   *fileReach        `json:"reach"`
	SkipPre bool              `json:"skip_preflight"`
}

type fileReach struct {
	Hosts []string `json:"hosts"`
	Read  []string `json:"read"`
	Write []string `json:"write"`
}

type fileRemote struct {
	URL       string            `json:"url"`
	ServerURL string            `json:"serverUrl"`
	Headers   map[string]scalar `json:"headers"`
	Transport string            `json:"transport"`
	Type      string            `json:"type"`
	Auth      string            `json:"auth"`
	OAuth     *fileOAuth        `json:"oauth"`
	Cert      json.RawMessage   `json:"client_cert"`
	Key       string            `json:"client_key"`
	Identity  string            `json:"identity_header"`
	Verify    json.RawMessage   `json:"ssl_verify"`
	Protocol  string            `json:"protocol"`
}

type fileOAuth struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	ClientName   string `json:"client_name"`
	Scope        scopes `json:"scope"`
	RedirectPort int    `json:"redirect_port"`
	RedirectHost string `json:"redirect_host"`
	RedirectURI  string `json:"redirect_uri"`
	Flow         string `json:"flow"`
	MetadataURL  string `json:"client_metadata_url"`
}

type fileTimes struct {
	Timeout   *scalar `json:"timeout"`
	Connect   *scalar `json:"connect_timeout"`
	KeepAlive *scalar `json:"keepalive_interval"`
	Idle      *scalar `json:"idle_timeout_seconds"`
	Lifetime  *scalar `json:"max_lifetime_seconds"`
}

type fileRights struct {
	Trust       *string          `json:"trust"`
	Enabled     *bool            `json:"enabled"`
	Disabled    bool             `json:"disabled"`
	Parallel    bool             `json:"supports_parallel_tool_calls"`
	Tools       *fileTools       `json:"tools"`
	Elicitation *fileElicitation `json:"elicitation"`
	Sampling    *fileSampling    `json:"sampling"`
}

type fileTools struct {
	Include   []string `json:"include"`
	Exclude   []string `json:"exclude"`
	Resources *bool    `json:"resources"`
	Prompts   *bool    `json:"prompts"`
}

type fileElicitation struct {
	Enabled *bool   `json:"enabled"`
	Timeout *scalar `json:"timeout"`
}

type fileSampling struct {
	Enabled   *bool    `json:"enabled"`
	Model     string   `json:"model"`
	Allowed   []string `json:"allowed_models"`
	MaxTokens int      `json:"max_tokens_cap"`
	PerMinute int      `json:"max_rpm"`
	Timeout   *scalar  `json:"timeout"`
}

// scalar is a text, a number or a boolean, as a text.
type scalar string

// UnmarshalJSON reads one.
func (s *scalar) UnmarshalJSON(raw []byte) error {
	var t string
	switch {
	case json.Unmarshal(raw, &t) == nil:
		*s = scalar(t)
	case len(raw) > 0 && (raw[0] == '{' || raw[0] == '['):
		return errors.New("it is not a text or a number")
	default:
		*s = scalar(raw)
	}
	return nil
}

// scopes is a list of scopes as a text, or a list.
type scopes string

// UnmarshalJSON reads them.
func (s *scopes) UnmarshalJSON(raw []byte) error {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		*s = scopes(strings.Join(list, " "))
		return nil
	}
	var t string
	err := json.Unmarshal(raw, &t)
	*s = scopes(t)
	return err
}

// ParseServer reads the settings of a server from what JSON or YAML made of them. notes are
// what is ignored, worded for the user. An error is about this server only; it says what to do.
func ParseServer(name string, raw any, v Vars) (s Settings, notes []string, err error) {
	m, ok := raw.(map[string]any)
	if !ok {
		return s, nil, fmt.Errorf("the MCP server %q is not a mapping with a command or a url", name)
	}
	if slug(name) == "" {
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

func (f file) settings(name string, v Vars) (Settings, error) {
	s := Settings{
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
func (f file) program(s *Settings, v Vars) error {
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

// path replaces ~ at the beginning.
func (v Vars) path(p string) string {
	if rest, ok := strings.CutPrefix(p, "~"); ok && v.Home != "" && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		return v.Home + rest
	}
	return p
}

// remote reads how the server is reached.
func (f file) remote() (*Remote, error) {
	u, err := url.Parse(f.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("url is %q; write an address that begins with https:// or http://", text.Visible(f.URL))
	}
	r := &Remote{URL: f.URL, Headers: map[string]string{}, IdentityHeader: f.Identity}
	switch t := strings.ToLower(f.Transport + f.Type); t {
	case "sse", "ssesse":
		r.SSE = true
	case "", "http", "httphttp", "streamable-http", "streamable_http", "streamablehttp":
	default:
		return nil, fmt.Errorf("transport is %q; use http or sse", f.Transport+f.Type)
	}
	for k, v := range f.Headers {
		if !validHeader(k, string(v)) {
			return nil, fmt.Errorf("the header %q cannot be sent: it has a character that headers must not have", text.Visible(k))
		}
		r.Headers[k] = string(v)
	}
	if f.Identity != "" && !validHeader(f.Identity, "") {
		return nil, fmt.Errorf("identity_header is %q, which is not the name of a header", f.Identity)
	}
	switch strings.ToLower(f.Auth) {
	case "", "none":
		if f.OAuth != nil {
			r.OAuth = f.OAuth.read()
		}
	case "oauth":
		r.OAuth = f.OAuth.read()
	default:
		return nil, fmt.Errorf("auth is %q; use oauth, or a header for a key", f.Auth)
	}
	if o := f.OAuth; o != nil && o.Flow != "" && o.Flow != "device" && o.Flow != "browser" {
		return nil, fmt.Errorf("oauth.flow is %q; use device or browser", o.Flow)
	}
	return r, f.tls(&r.TLS)
}

func (o *fileOAuth) read() *OAuth {
	if o == nil {
		return &OAuth{}
	}
	return &OAuth{
		ClientID: o.ClientID, ClientSecret: o.ClientSecret, ClientName: o.ClientName, Scope: string(o.Scope), RedirectPort: o.RedirectPort,
		RedirectHost: o.RedirectHost, RedirectURI: o.RedirectURI, Device: o.Flow == "device", MetadataURL: o.MetadataURL,
	}
}

// tls reads the certificates. client_cert may be a list of both files.
func (f file) tls(t *TLS) error {
	t.Key = f.Key
	var pair []string
	switch {
	case len(f.Cert) == 0 || string(f.Cert) == "null":
	case json.Unmarshal(f.Cert, &t.Cert) == nil:
	case json.Unmarshal(f.Cert, &pair) == nil && len(pair) == 2:
		t.Cert, t.Key = pair[0], pair[1]
	default:
		return errors.New("client_cert is neither a file nor a list of two files")
	}
	if t.Key != "" && t.Cert == "" {
		return errors.New("it has client_key without client_cert")
	}
	var verify bool
	switch {
	case len(f.Verify) == 0 || string(f.Verify) == "null":
	case json.Unmarshal(f.Verify, &verify) == nil:
		t.Insecure = !verify
	case json.Unmarshal(f.Verify, &t.CA) == nil:
	default:
		return errors.New("ssl_verify is neither true, false nor a file")
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

// Expand replaces ${NAME}, ${env:NAME} and the names that editors know in all texts. unset are
// the variables that are not there; what names them stays.
func (v Vars) Expand(m map[string]any) (out map[string]any, unset []string) {
	var value func(x any) any
	value = func(x any) any {
		switch x := x.(type) {
		case string:
			return replaceVars(x, func(name string) (string, bool) {
				val, ok := v.value(name)
				if !ok {
					unset = append(unset, name)
				}
				return val, ok
			})
		case []any:
			list := make([]any, len(x))
			for i := range x {
				list[i] = value(x[i])
			}
			return list
		case map[string]any:
			sub := make(map[string]any, len(x))
			for k := range x {
				sub[k] = value(x[k])
			}
			return sub
		}
		return x
	}
	out, _ = value(m).(map[string]any)
	slices.Sort(unset)
	return out, slices.Compact(unset)
}

// replaceVars replaces each ${NAME} that value knows.
func replaceVars(s string, value func(name string) (string, bool)) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		b.WriteString(before)
		name, after, closed := strings.Cut(rest, "}")
		if !found {
			return b.String()
		}
		if !closed {
			return b.String() + "${" + rest
		}
		if val, ok := value(name); ok {
			b.WriteString(val)
		} else {
			b.WriteString("${" + name + "}")
		}
		s = after
	}
}

// value returns what a name in ${…} means. As in Claude's files, ${NAME:-TEXT} means
// TEXT if NAME is not set.
func (v Vars) value(name string) (string, bool) {
	name, fallback, has := strings.Cut(name, ":-")
	switch name {
	case "userHome":
		return v.Home, v.Home != ""
	case "workspaceFolder":
		return v.Workspace, v.Workspace != ""
	case "workspaceFolderBasename":
		return filepath.Base(v.Workspace), v.Workspace != ""
	case "pathSeparator", "/":
		return string(filepath.Separator), true
	}
	if v.Lookup != nil {
		if val, ok := v.Lookup(strings.TrimPrefix(name, "env:")); ok {
			return val, true
		}
	}
	return fallback, has
}
