package provider

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/chain"
	"hermes/internal/httpc"
	"hermes/internal/transport/anthropic"
	"hermes/internal/transport/chat"
	"hermes/internal/transport/gemini"
	"hermes/internal/transport/ollama"
)

// Timeouts are the time limits of model calls. Zero means the catalogue's
// default, which gives servers in the user's own network more time.
type Timeouts struct {
	Read  time.Duration // without a byte of a stream
	Stale time.Duration // without an event of a stream
	// LocalStale is Stale for servers in the user's own network, if Stale is
	// not set.
	LocalStale time.Duration
	CallStale  time.Duration // without an answer, if it does not stream
	Call       time.Duration // for the whole call
	Probe      time.Duration // for a server that may run on this machine
}

// build makes the transport of a choice and wraps it in its chain.
func (c *Catalogue) build(ch choice) (hermes.Model, error) {
	transport, err := c.transports(ch)
	if err != nil {
		return nil, err
	}
	return c.wrap(ch, transport), nil
}

// buildSingle is build without the layers that span several models.
func (c *Catalogue) buildSingle(ch choice) (hermes.Model, error) {
	transport, err := c.transports(ch)
	if err != nil {
		return nil, err
	}
	return c.single(ch, transport), nil
}

// transports makes the transport of a choice for each key.
func (c *Catalogue) transports(ch choice) (func(hermes.Key) hermes.Model, error) {
	client, err := c.client(ch.endpoint)
	if err != nil {
		return nil, err
	}
	client = chain.Amended(client, c.quirks.Of(ch.ref()+" "+ch.BaseURL))
	header := ch.header()
	c.setCache(ch, header)
	return func(key hermes.Key) hermes.Model { return c.transport(ch, key, client, header) }, nil
}

// header returns the headers of the service; those of the settings win.
func (e endpoint) header() http.Header {
	h := http.Header{}
	for _, all := range []map[string]string{e.Header, e.custom.Header} {
		for k, v := range all {
			h.Set(k, v)
		}
	}
	return h
}

// transport speaks to a service with one key.
func (c *Catalogue) transport(ch choice, key hermes.Key, client *http.Client, header http.Header) hermes.Model {
	if key.BaseURL != "" {
		if !sameServer(key.BaseURL, ch.BaseURL) {
			header = withoutSecrets(header)
		}
		ch.BaseURL = key.BaseURL
	}
	ch.Protocol = c.protocol(ch)
	w := c.common(ch, key, c.watched(client, ch, key), header)
	switch ch.Protocol {
	case ProtocolResponses:
		return c.noted(ch, w, c.responses(ch, w, key))
	case ProtocolGemini:
		return gemini.New(gemini.Config{Config: w, Quirks: gemini.Quirks{NoStream: c.noStream(ch), Bearer: ch.Bearer}})
	case ProtocolOllama:
		return ollama.New(ollama.Config{
			Config: w, Quirks: ollama.Quirks{NoStream: c.noStream(ch)},
			Learn: func(context int) { c.learned.Set(ch.BaseURL, ch.model, context) },
		})
	case ProtocolBedrock:
		return c.bedrock(ch, w)
	case ProtocolACP:
		return c.program(ch, w)
	case ProtocolAnthropic:
		return anthropic.New(anthropic.Config{Config: w, Quirks: anthropic.Quirks{
			Bearer:   ch.Bearer || key.Source == "env:ANTHROPIC_AUTH_TOKEN" || key.Source == "oauth",
			OAuth:    strings.HasPrefix(key.Secret.Reveal(), "sk-ant-oat"),
			NoStream: c.noStream(ch), CacheTTL: c.cacheTTL(ch), Tier: c.tierOf(ch),
		}})
	default:
		q := ch.Chat
		q.NoStream = q.NoStream || c.noStream(ch)
		q.CacheTTL = c.cacheTTL(ch)
		q.TextCalls = c.ownModel(ch)
		q.Tail = c.tail(ch)
		if len(ch.custom.Extra) > 0 {
			all := maps.Clone(ch.custom.Extra)
			maps.Copy(all, q.Extra)
			maps.Copy(all, ch.custom.Extra) // the user's settings win
			q.Extra = all
		}
		return c.noted(ch, w, chat.New(chat.Config{Config: w, Quirks: q}))
	}
}

// noStream reports whether answers of a choice are requested without streaming.
func (c *Catalogue) noStream(ch choice) bool {
	return c.cfg.NoStream && !slices.ContainsFunc(c.cfg.StreamOnly, func(address string) bool {
		return strings.TrimRight(address, "/") == strings.TrimRight(ch.BaseURL, "/")
	})
}

// client returns the common client unless the service needs other certificates.
func (c *Catalogue) client(e endpoint) (*http.Client, error) {
	if len(e.custom.CACert) == 0 && !e.custom.Insecure {
		return c.cfg.Client, nil
	}
	return proxied(c.cfg.Getenv, httpc.Options{UserAgent: c.cfg.UserAgent, RootCAs: e.custom.CACert, Insecure: e.custom.Insecure})
}

// cacheTTL is the lifetime of cache marks, for services and models that support
// them.
func (c *Catalogue) cacheTTL(ch choice) string {
	if !ch.CacheMarks && (ch.Protocol != ProtocolAnthropic || !strings.Contains(strings.ToLower(ch.model), "claude")) {
		return ""
	}
	if c.cfg.CacheTTL == "off" {
		return ""
	}
	return cmp.Or(c.cfg.CacheTTL, "5m")
}

func (c *Catalogue) window(ch choice) int {
	if n := ch.custom.Models[ch.model].ContextLength; n > 0 {
		return n
	}
	if ch.custom.ContextLength > 0 {
		return ch.custom.ContextLength
	}
	if c.cfg.Model == "" || strings.HasSuffix(c.cfg.Model, ch.model) {
		return c.cfg.ContextLength
	}
	return 0
}

// clocks returns the time limits. A limit set for one model wins, then one set
// for the provider, then the general one.
func (c *Catalogue) clocks(ch choice) httpc.Clocks {
	local := isLocal(ch.BaseURL)
	either := func(here, remote time.Duration) time.Duration {
		if local {
			return here
		}
		return remote
	}
	model, t := ch.custom.Models[ch.model], c.cfg.Timeouts
	stale := first(model.Stale, ch.custom.Stale, t.Stale, either(first(t.LocalStale, 900*time.Second), 180*time.Second))
	clocks := httpc.Clocks{
		FirstByte: stale,
		Idle:      first(t.Read, either(1800*time.Second, 120*time.Second)),
		Stale:     stale,
		Whole:     first(model.Timeout, ch.custom.Timeout, t.Call, 1800*time.Second),
	}
	if c.noStream(ch) || ch.Chat.NoStream {
		remote := 90 * time.Second
		if ch.Protocol != ProtocolChat {
			remote = 900 * time.Second
		}
		clocks.Stale = 0
		clocks.FirstByte = first(model.Stale, ch.custom.Stale, t.CallStale, either(0, remote))
	}
	return clocks
}

// first returns the first duration that is set.
func first(ds ...time.Duration) time.Duration {
	for _, d := range ds {
		if d > 0 {
			return d
		}
	}
	return 0
}
