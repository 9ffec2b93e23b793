package credential

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes"
)

// document is the content of auth.json. Unknown fields are kept unchanged.
type document struct {
	top   map[string]json.RawMessage
	pools map[string][]record
	// odd are pools and entries in a form that we do not know.
	oddPools   map[string]json.RawMessage
	oddEntries map[string][]json.RawMessage
}

const (
	poolsField   = "credential_pool"
	versionField = "version"
)

func newDocument() *document {
	return &document{
		top: map[string]json.RawMessage{}, pools: map[string][]record{},
		oddPools: map[string]json.RawMessage{}, oddEntries: map[string][]json.RawMessage{},
	}
}

func (d *document) clone() *document {
	c := *d
	c.top = maps.Clone(d.top)
	c.pools = make(map[string][]record, len(d.pools))
	for name, records := range d.pools {
		c.pools[name] = slices.Clone(records)
	}
	return &c
}

func decode(raw []byte) (*document, error) {
	d := newDocument()
	if strings.TrimSpace(string(raw)) == "" {
		return d, nil
	}
	if err := json.Unmarshal(raw, &d.top); err != nil || d.top == nil {
		return nil, fmt.Errorf("it is not a JSON object") // the cause would quote its text
	}
	var pools map[string]json.RawMessage
	if own, ok := d.top[poolsField]; ok {
		if err := json.Unmarshal(own, &pools); err != nil {
			return nil, fmt.Errorf("%s is not an object", poolsField)
		}
	}
	delete(d.top, poolsField)
	for name, raw := range pools {
		var entries []json.RawMessage
		if json.Unmarshal(raw, &entries) != nil {
			d.oddPools[name] = raw
			continue
		}
		for _, e := range entries {
			r, ok := decodeRecord(e)
			if !ok {
				d.oddEntries[name] = append(d.oddEntries[name], e)
				continue
			}
			d.pools[name] = append(d.pools[name], r)
		}
	}
	return d, nil
}

func (d *document) encode() ([]byte, error) {
	top := maps.Clone(d.top)
	if _, ok := top[versionField]; !ok {
		top[versionField] = json.RawMessage("1")
	}
	pools := map[string]any{}
	for name, raw := range d.oddPools {
		pools[name] = raw
	}
	for name, records := range d.pools {
		list := make([]any, 0, len(records))
		for _, r := range records {
			e, err := r.encode()
			if err != nil {
				return nil, err
			}
			list = append(list, e)
		}
		for _, e := range d.oddEntries[name] {
			list = append(list, e)
		}
		if len(list) > 0 {
			pools[name] = list
		}
	}
	raw, err := json.Marshal(pools)
	if err != nil {
		return nil, err
	}
	top[poolsField] = raw
	out, err := json.MarshalIndent(top, "", "  ")
	return append(out, '\n'), err
}

// entry is a record as it is written. Only here are secrets plain text, and only
// while the file is read or written.
type entry struct {
	_ [0]func() // it is never compared, which saves the code for it

	ID          string `json:"id"`
	Label       string `json:"label,omitempty"`
	AuthType    string `json:"auth_type"`
	Priority    int    `json:"priority"`
	Source      string `json:"source,omitempty"`
	Access      string `json:"access_token,omitempty"`
	Refresh     string `json:"refresh_token,omitempty"`
	Expires     moment `json:"expires_at,omitzero"`
	Fingerprint string `json:"fingerprint,omitempty"`
	Account     string `json:"account,omitempty"`
	BaseURL     string `json:"base_url,omitempty"`
	Status      string `json:"last_status,omitempty"`
	Reason      string `json:"last_error_reason,omitempty"`
	StatusAt    moment `json:"last_status_at,omitzero"`
	Until       moment `json:"last_error_reset_at,omitzero"`
	Stated      bool   `json:"last_error_reset_stated,omitempty"`
	Requests    int    `json:"request_count,omitempty"`
	Used        moment `json:"last_used_at,omitzero"`
	Refreshed   moment `json:"last_refresh,omitzero"`
}

// ours reports whether a field belongs to entry; other programs own all others.
func ours(name string) bool {
	switch name {
	case "id", "label", "auth_type", "priority", "source", "access_token", "refresh_token", "expires_at", "fingerprint", "account", "base_url",
		"last_status", "last_error_reason", "last_status_at", "last_error_reset_at", "last_error_reset_stated", "request_count", "last_used_at", "last_refresh":
		return true
	}
	return false
}

func decodeRecord(raw json.RawMessage) (record, bool) {
	var e entry
	var rest map[string]json.RawMessage
	if json.Unmarshal(raw, &e) != nil || json.Unmarshal(raw, &rest) != nil || e.ID == "" {
		return record{}, false
	}
	maps.DeleteFunc(rest, func(name string, _ json.RawMessage) bool { return ours(name) })
	r := record{
		id: e.ID, label: e.Label, kind: e.AuthType, source: e.Source, priority: e.Priority,
		secret: hermes.Secret(e.Access), refresh: hermes.Secret(e.Refresh), expires: time.Time(e.Expires),
		fingerprint: e.Fingerprint, account: e.Account, baseURL: e.BaseURL,
		state:    state{status: e.Status, reason: hermes.Class(e.Reason), until: time.Time(e.Until), stated: e.Stated, at: time.Time(e.StatusAt)},
		requests: e.Requests, used: time.Time(e.Used), refreshed: time.Time(e.Refreshed), rest: rest,
	}
	if r.kind == "" {
		r.kind = KindKey
	}
	if r.state.status == statusOK {
		r.state.status = ""
	}
	switch {
	case borrowed(r.source) || strings.HasPrefix(r.source, programSource):
		r.secret, r.refresh = "", "" // an older file may hold a copy
	case r.secret != "":
		r.fingerprint = fingerprint(r.secret)
	}
	return r, true
}

func (r record) encode() (map[string]json.RawMessage, error) {
	status := r.state.status
	if status == "" {
		status = statusOK
	}
	e := entry{
		ID: r.id, Label: r.label, AuthType: r.kind, Priority: r.priority, Source: r.source,
		Access: r.secret.Reveal(), Refresh: r.refresh.Reveal(), Expires: moment(r.expires), Account: r.account, BaseURL: r.baseURL,
		Status: status, Reason: string(r.state.reason), StatusAt: moment(r.state.at), Until: moment(r.state.until), Stated: r.state.stated,
		Requests: r.requests, Used: moment(r.used), Refreshed: moment(r.refreshed),
	}
	if _, program := programOf(r.source); program || borrowed(r.source) || r.kind == KindKeychain {
		e.Access, e.Refresh, e.Fingerprint = "", "", r.fingerprint
		if program {
			e.Expires, e.BaseURL = moment{}, "" // these belong to the token
		}
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(r.rest)
	if out == nil {
		out = map[string]json.RawMessage{}
	}
	return out, json.Unmarshal(raw, &out)
}

// moment is a time that may be written as RFC 3339 or as seconds or
// milliseconds since 1970.
type moment time.Time

// IsZero reports whether there is none.
func (m moment) IsZero() bool { return time.Time(m).IsZero() }

// MarshalJSON writes RFC 3339 in UTC.
func (m moment) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Time(m).UTC().Format(time.RFC3339))
}

// UnmarshalJSON reads any of the forms; anything else is the zero time.
func (m *moment) UnmarshalJSON(raw []byte) error {
	text := strings.Trim(string(raw), `"`)
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		*m = moment(t.UTC())
		return nil
	}
	const milliseconds, end = 1e11, 1e11 // seconds until the year 5138
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(seconds) || seconds <= 0 {
		*m = moment{}
		return nil
	}
	if seconds >= milliseconds {
		seconds /= 1000
	}
	if seconds >= end {
		*m = moment{}
		return nil
	}
	*m = moment(time.Unix(int64(seconds), 0).UTC())
	return nil
}
