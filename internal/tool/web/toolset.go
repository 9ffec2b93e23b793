// Package web is the toolset web: web_search asks a search service, and web_extract reads pages as text.
//
// It owns the choice of the service, what is asked when one fails, the memory of recent answers, and the
// limits. It must not know how a service is spoken to (package websearch), how a page becomes text (package
// webpage), nor the settings; [Config] says what is chosen. Every request goes through the guard that it is
// given, and what comes back is untrusted text. Start at New; choose.go has the choice, answer.go what is
// remembered and shared, fetch.go the reading without a service.
package web

import (
	"context"
	"net/url"
	"strings"
	"time"

	"hermes"
	"hermes/internal/httpc"
	"hermes/internal/netguard"
	"hermes/internal/websearch"
)

// Config configures the toolset.
type Config struct {
	Choice
	// Guard makes the guard of all requests.
	Guard     func() (*netguard.Guard, error)
	UserAgent string
	// CharLimit is how many characters of a page are returned unless a call says otherwise; 0 is 15,000.
	CharLimit int
	// Timeout bounds the reading of one page; 0 is 120 s.
	Timeout time.Duration
	// Remember is how long answers are kept in memory; 0 keeps none.
	Remember time.Duration
	// Exempt reports whether the page at an address is never kept; nil keeps all.
	Exempt func(at *url.URL) bool
	// Secret reports whether a text holds a secret, which must not be sent; nil finds none.
	Secret func(text string) bool
	// Mask hides secrets in what is stored; nil hides none.
	Mask func(text string) string
	// Save stores the whole text of a page and returns the path for read_file; nil stores none.
	Save func(ctx context.Context, c *hermes.Call, text string) (path string, err error)
	// Summarise has a model answer a question about the text of a page, or summarise it if the question is
	// empty; nil is no model.
	Summarise func(ctx context.Context, s hermes.SessionRef, question, title, text string) (string, error)
	Now       func() time.Time // nil is time.Now
}

// Toolset is the toolset web. It may be used concurrently.
type Toolset struct {
	cfg     Config
	answers *answers
	resting *resting
	reading chan struct{} // has an element for each page that becomes text
}

// New makes the toolset. It sends nothing.
func New(c Config) *Toolset {
	if c.CharLimit <= 0 {
		c.CharLimit = 15_000
	}
	if c.Timeout <= 0 {
		c.Timeout = 120 * time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Secret == nil {
		c.Secret = func(string) bool { return false }
	}
	if c.Mask == nil {
		c.Mask = func(text string) string { return text }
	}
	return &Toolset{cfg: c, answers: newAnswers(c.Remember, c.Now), resting: &resting{now: c.Now, until: map[string]rest{}}, reading: make(chan struct{}, maxReading)}
}

// Name returns "web".
func (*Toolset) Name() string { return "web" }

// Available returns "": pages can be read without any service.
func (*Toolset) Available(context.Context) string { return "" }

// Tools returns both tools, or only web_extract if no service may be searched with.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	tools := []hermes.Tool{t.newExtract()}
	if t.cfg.Search != "" || len(t.cfg.searchers()) > 0 { // a wrong choice is an error of the call, which says what to do
		tools = append(tools, t.newSearch())
	}
	return tools, nil
}

// searchTime bounds one request to a search service.
const searchTime = 60 * time.Second

// reach lends a service an HTTP client that reaches only what the guard allows, and the address that the user
// chose for the service. It sends no key anywhere else.
func (t *Toolset) reach(s websearch.Service, g netguard.Guard) (*websearch.Service, func()) {
	if u, err := url.Parse(s.URL()); err == nil && s.At != "" {
		g.Own = []string{strings.ToLower(u.Hostname())}
	}
	// A thorough search may take long to begin its answer; package websearch bounds the size.
	client := g.Client(netguard.Limits{Streams: true, Redirect: httpc.WithinOrigin.Check, UserAgent: t.cfg.UserAgent})
	s.HTTP = client
	return &s, client.CloseIdleConnections
}
