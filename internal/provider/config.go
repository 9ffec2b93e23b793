package provider

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"hermes"
	"hermes/internal/chain"
)

// Config holds the user's settings. The zero value of each field means "not set".
type Config struct {
	// Selection is the section model, or the command line's values instead.
	Selection
	// Forced says that the provider was given for this run. It then wins over
	// the provider that Model names, and does not take that model's name.
	Forced  bool
	Aliases map[string]string // names for references
	// Custom holds the section providers by id: settings for a service of the
	// catalogue, or the user's own service if it has a base URL.
	Custom map[string]Custom
	// Fallback lists the fallback models, in their order.
	Fallback []Selection
	Requests
	Patience
	Credentials
	Spending
	// Programs says how programs are started that answer as models.
	Programs Programs
	// AskWindows lets a server of the user's own be asked for its list of models
	// beside its first answer of a run, unless the settings have the window.
	AskWindows bool
	// Answers is the folder for the cached answers of servers about their
	// models; empty keeps them for this run only.
	Answers string
	// Local lists the servers to look for when nothing is configured;
	// nil means the usual ports of this machine.
	Local []LocalServer
	// Note is called, at most once, with the model that was chosen when none
	// was named. It may be nil.
	Note func(text string)
	System
}

// Selection is a model as the settings name it: the section model, or an entry of
// fallback_providers. BaseURL, keys and mode override the provider's.
type Selection struct {
	Provider      string // "auto" means not set
	Model         string
	BaseURL       string
	Key           hermes.Secret
	KeyEnv        string // of fallbacks only
	APIMode       string
	ContextLength int
	Fault         error // why it must not be used; see Custom.Fault
}

// Requests says what requests ask for.
type Requests struct {
	OpenRouter OpenRouter
	// ServiceTier is one of Tiers; a service that does not know it gets none.
	ServiceTier string
	CacheTTL    string // "5m" (also if empty), "1h", "auto" as in hermes.Request, or "off"
	NoStream    bool
	// StreamOnly lists base URLs that stream although NoStream is set.
	StreamOnly []string
}

// Patience says how long a call is tried.
type Patience struct {
	// Retries is how often a failed call is retried; 0 is 3, negative none.
	Retries  int
	Timeouts Timeouts
	// LongestWait is the longest wait that a service may ask for. If it asks
	// for more, the failure goes to another key or model, or to the user.
	// 0 is ten minutes. UnattendedWait is that of a conversation that no user
	// attends; 0 is LongestWait.
	LongestWait, UnattendedWait time.Duration
}

// Credentials says what keys and logins there are.
type Credentials struct {
	// Keys returns the credentials of a pool, joined with those from the
	// settings and the environment, in their order. The empty pool has no
	// others. If Keys is nil, only the given keys are used.
	Keys func(pool string, given []hermes.Key) hermes.Keys
	// LoginLacks lists the settings that the login of a pool still needs, by
	// their names in config.yaml. Nil means that no login lacks any.
	LoginLacks func(pool string) []string
}

// Spending has the layers that count what calls cost; nil means none.
type Spending struct {
	Caps  chain.Layer // the outermost of the chain
	Meter chain.Layer // the innermost, which sees every attempt
}

// System is what the package has of the machine around it.
type System struct {
	// Getenv looks a variable up; nil knows none.
	Getenv func(string) string
	// Client reaches the services; nil makes one from the proxy variables. It
	// follows redirects as httpc.WithinOrigin says.
	Client    *http.Client
	UserAgent string
	// Now, Sleep and Rand control the layers that wait; nil means the real ones.
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
	Rand  func() float64
}

// Custom is one entry of the section providers.
type Custom struct {
	BaseURL string
	Key     hermes.Secret
	KeyEnv  string
	APIMode string
	Model   string // the default one
	Limits
	Header   map[string]string
	Extra    map[string]json.RawMessage // body fields, sent as they are
	CACert   []byte                     // PEM
	Insecure bool
	Models   map[string]ModelSettings
	// Command is a program that answers, with the arguments Args (nil: those of
	// the catalogue), in place of a base URL.
	Command string
	Args    []string
	// OnlyOwnKey says that the entry gets no other key than Key and KeyEnv, not
	// even one that was added for its name.
	OnlyOwnKey bool
	// Fault is why the entry must not be used: it names an address in a way that is
	// not understood, and its key might go to another server. Nil means nothing.
	Fault error
}

// ModelSettings holds the user's settings for one model of a provider.
type ModelSettings struct {
	Limits
	Vision bool // it accepts pictures; otherwise what is known about it says so
}

// Limits are those of calls to a provider or one of its models; 0 is not set.
type Limits struct {
	ContextLength int           // in tokens
	Timeout       time.Duration // of a whole call
	Stale         time.Duration // as in Timeouts
}
