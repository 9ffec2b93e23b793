package base

import "hermes"

// Mark asks the service to keep the prompt up to here in its cache. It is Anthropic's
// cache_control field, which some services with Chat Completions know, too.
type Mark struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitempty"`
}

// NewMark returns a mark for "5m", the default lifetime, or "1h".
func NewMark(ttl string) *Mark {
	if ttl != "1h" {
		ttl = ""
	}
	return &Mark{Type: "ephemeral", TTL: ttl}
}

// AskedOnce reports a side task with a single message. A cache entry for it would
// cost money and never be read.
func AskedOnce(r *hermes.Request) bool { return r.Purpose != "" && len(r.Messages) < 2 }
