package sqlite

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"hermes"
)

// record is a message as stored in its row.
type record struct {
	id, turn, at int64
	role         string
	failed       bool
	callID, tool sql.NullString
	text, body   sql.NullString
	provenance   sql.NullString
}

const messageColumns = "id, role, turn, at, failed, call_id, tool_name, text, body, outside"

// fields returns the scan targets for messageColumns.
func (r *record) fields() []any {
	return []any{&r.id, &r.role, &r.turn, &r.at, &r.failed, &r.callID, &r.tool, &r.text, &r.body, &r.provenance}
}

// emptyBody is the JSON of a message whose fields all have columns.
const emptyBody = `{"role":""}`

// encode splits a message into columns and a JSON body for the rest. A plain message
// needs no JSON, and no text is stored twice.
func encode(m hermes.Message) (record, error) {
	r := record{role: string(m.Role), turn: m.Turn, at: nanos(m.Time), failed: m.Failed,
		callID: nullable(m.CallID), tool: nullable(m.ToolName), provenance: nullable(m.Provenance)}
	if text, plain := plainText(m); plain {
		r.text = sql.NullString{String: text, Valid: true}
		if anchors := m.Parts[0].Anchors; anchors != nil {
			m.Parts = []hermes.Part{{Anchors: anchors}}
		} else {
			m.Parts = nil
		}
	}
	m.ID, m.Role, m.Turn, m.Time = 0, "", 0, time.Time{}
	m.Failed, m.CallID, m.ToolName, m.Provenance = false, "", "", ""
	body, err := marshal(m)
	if err != nil {
		return r, fmt.Errorf("encode a message: %w", err)
	}
	if body != emptyBody {
		r.body = sql.NullString{String: body, Valid: true}
	}
	return r, nil
}

// plainText returns the text of a message that has one visible text part and
// nothing else in its parts.
func plainText(m hermes.Message) (string, bool) {
	if len(m.Parts) != 1 {
		return "", false
	}
	p := m.Parts[0]
	return p.Text, p.Image == nil && !p.Hidden
}

func (r *record) message() (hermes.Message, error) {
	var m hermes.Message
	if r.body.Valid {
		if err := json.Unmarshal([]byte(r.body.String), &m); err != nil {
			return m, fmt.Errorf("read message %d: %w", r.id, err)
		}
	}
	m.ID, m.Role, m.Turn, m.Time = r.id, hermes.Role(r.role), r.turn, timeOf(r.at)
	m.Failed, m.CallID, m.ToolName, m.Provenance = r.failed, r.callID.String, r.tool.String, r.provenance.String
	if r.text.Valid {
		p := hermes.Part{Text: r.text.String}
		if len(m.Parts) == 1 {
			p.Anchors = m.Parts[0].Anchors
		}
		m.Parts = []hermes.Part{p}
	}
	return m, nil
}

// marshal returns JSON without HTML escapes and without a line break.
func marshal(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

func nullable(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// nanos returns the stored form of a time; the zero time is 0.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func timeOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// nullTime returns the stored form of a time; the zero time is NULL.
func nullTime(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: nanos(t), Valid: !t.IsZero()}
}
