package credential

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"hermes"
)

// The kinds of credentials, as the file names them.
const (
	KindKey      = "api_key"
	KindOAuth    = "oauth"
	KindKeychain = "keychain"
)

// record is one credential.
type record struct {
	id, label    string
	kind, source string
	priority     int // the smallest comes first
	secret       hermes.Secret
	refresh      hermes.Secret
	expires      time.Time // zero: unknown
	fingerprint  string
	account      string
	baseURL      string
	state        state
	requests     int
	used         time.Time
	refreshed    time.Time
	rest         map[string]json.RawMessage // unknown fields, kept unchanged
}

// state says whether a credential can be used.
type state struct {
	status string // "", exhausted or dead
	reason hermes.Class
	until  time.Time // of exhausted
	stated bool      // until comes from the service, not from our guess
	at     time.Time
}

// The states, as the file names them.
const (
	statusOK        = "ok"
	statusExhausted = "exhausted"
	statusRevoked   = "dead"
)

// farthest bounds the length of a pause, so that a clock that jumped does not
// lock a credential out.
const farthest = 8 * 24 * time.Hour

// usable reports whether a credential may be lent.
func (r record) usable(now time.Time) bool { return !r.revoked() && !r.resting(now) }

func (r record) revoked() bool { return r.state.status == statusRevoked }

func (r record) resting(now time.Time) bool {
	return r.state.status == statusExhausted && now.Before(r.state.until) && r.state.until.Before(now.Add(farthest))
}

// identity says which credentials are the same: a login is identified by its id,
// a key by its value.
func (r record) identity() string {
	if r.kind == KindOAuth {
		return "id:" + r.id
	}
	return r.fingerprint
}

// borrowed reports whether the secret is stored elsewhere and our file has only a
// reference.
func borrowed(source string) bool {
	return source == "config" || strings.HasPrefix(source, "env:")
}

// fingerprint identifies a secret without revealing it.
func fingerprint(s hermes.Secret) string {
	if s == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(s.Reveal()))
	return "sha256:" + hex.EncodeToString(sum[:8])
}

// idOf makes a stable id for a credential that is stored elsewhere.
func idOf(source string) string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:3])
}

// Mask shows the head and tail of a secret that is long enough for that.
func Mask(s hermes.Secret) string {
	text := s.Reveal()
	if text == "" {
		return ""
	}
	const tail = 4
	if len(text) < 20 {
		return "…"
	}
	head := min(len(text)/5, 8)
	return text[:head] + "…" + text[len(text)-tail:]
}
