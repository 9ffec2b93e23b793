// Package setting is the settings of MCP servers: what they are (setting.go), how users and other programs write
// them (written.go, variables.go, imports.go), how they are read (parse.go, parse_remote.go), and which files a program
// needs for them (reads.go).
//
// It reads no file of settings and starts nothing. Start at Server.
package setting

import (
	"path"
	"strings"
	"time"
)

// Server is the settings of one server, as `mcp_servers` of the configuration and the files
// `.mcp.json` of other programs have them. Read with [Parse].
type Server struct {
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
func (s Server) ID() string {
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
	// IdentityHeader names the header that says whose request it is; "" sends no such header.
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
	// MetadataURL is the address of a client metadata document; "" if there is no such document.
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

// Slug is a name with nothing but letters and digits of ASCII and underscores; "" if it has no
// letter or digit.
func Slug(name string) string {
	s := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
	if strings.Trim(s, "_") == "" {
		return ""
	}
	return s
}

// Offers reports whether a filter offers a tool, by its original name.
func (f Filter) Offers(tool string) bool {
	in := func(patterns []string) bool {
		for _, p := range patterns {
			if ok, err := path.Match(p, strings.ReplaceAll(tool, "/", "_")); err == nil && ok || p == tool {
				return true
			}
		}
		return false
	}
	if len(f.Include) > 0 {
		return in(f.Include)
	}
	return !in(f.Exclude)
}
