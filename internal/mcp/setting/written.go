package setting

import (
	"encoding/json"
	"errors"
	"strings"
)

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
	_ [0]func() // it is never compared, which saves the code for it

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
