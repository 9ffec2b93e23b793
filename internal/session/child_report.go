package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/jsonschema"
)

// taskParts is the message with which a child begins. What every child has to know is in its prompt.
func taskParts(t hermes.Task) []hermes.Part {
	text := t.Goal
	if t.Context != "" {
		text += "\n\nWhat you need to know:\n" + t.Context
	}
	parts := []hermes.Part{{Text: text}}
	if len(t.Schema) > 0 {
		parts = append(parts, hermes.Part{Hidden: true, Text: "[Your last message must be one JSON value and nothing else. It must fit this JSON Schema: " + string(t.Schema) + "]"})
	}
	return parts
}

// fits says whether an answer is what the schema of a task asks for. The zero value accepts all.
type fits struct{ schema *jsonschema.Schema }

// maxTaskSchema is the size of the largest schema of a task, in bytes.
const maxTaskSchema = 16 << 10

func readFits(schema json.RawMessage) (fits, error) {
	if len(schema) == 0 {
		return fits{}, nil
	}
	if len(schema) > maxTaskSchema {
		return fits{}, fmt.Errorf("the output schema is larger than %d kB", maxTaskSchema>>10)
	}
	s, err := jsonschema.Read(schema)
	if err != nil {
		return fits{}, fmt.Errorf("the output schema cannot be used: %w", err)
	}
	return fits{s}, nil
}

// misfit says what is wrong with an answer, for the model; "" is nothing.
func (f fits) misfit(answer string) string {
	if _, err := f.value(answer); err != nil {
		return err.Error()
	}
	return ""
}

// value returns the JSON value of an answer, which may be in a code block.
func (f fits) value(answer string) (json.RawMessage, error) {
	if f.schema == nil {
		return nil, nil
	}
	text := strings.TrimSpace(answer)
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		_, rest, _ = strings.Cut(rest, "\n")
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
	}
	if !json.Valid([]byte(text)) {
		return nil, errors.New("the answer is not one JSON value")
	}
	if err := f.schema.Check(json.RawMessage(text)); err != nil {
		return nil, fmt.Errorf("the answer does not fit the schema: %w", err)
	}
	return json.RawMessage(text), nil
}

// unread is the source of a child session whose transcript cannot be read.
const unread = "a child session"

// reported is what a child says of its turn.
func (c *running) reported(ctx context.Context, done hermes.TurnDone, how hermes.ChildStatus) hermes.Report {
	ctx = context.WithoutCancel(ctx)
	m := c.by.session.manager
	r := hermes.Report{Session: c.child.id, Summary: done.Text, Status: how, Steps: done.Steps, Usage: done.Usage}
	row, err := m.cfg.Store.FindSession(ctx, c.child.id)
	var list []hermes.Message
	if err == nil { // all of it: a compaction removes calls
		list, err = m.cfg.Store.Messages(ctx, c.child.id, hermes.Range{Raw: true})
	}
	if err != nil { // one that cannot be read counts as tainted
		r.Provenance, r.MayBeMore = unread, true
	} else {
		r = m.described(ctx, row, list, c.by.tools, how)
		r.Steps = max(r.Steps, done.Steps)
		if done.Text != "" {
			r.Summary = done.Text
		}
	}
	if how == hermes.ChildFailed && done.Failure != nil {
		r.Failure = done.Failure.Error()
	}
	m.cfg.Children.finish(&r, c.fits)
	return r
}

// The limits of what one child says.
const (
	maxSummary = 12_000 // characters
	maxFiles   = 100
)

// finish reads the result of a child that has a schema, masks secrets, and cuts what is long.
func (c Children) finish(r *hermes.Report, f fits) {
	structured(r, f)
	r.Summary, r.Truncated = c.clipped(r.Summary)
	r.Failure, _ = c.clipped(r.Failure)
	if n := len(r.Files) - maxFiles; n > 0 {
		r.Files, r.MoreFiles = r.Files[:maxFiles], n
	}
}

// clipped masks the secrets of a text, and then cuts it: no part of one may be left.
func (c Children) clipped(text string) (string, bool) {
	runes := []rune(c.redacted(text))
	if len(runes) <= maxSummary {
		return string(runes), false
	}
	return string(runes[:maxSummary]) + "… (cut; session_search reads the whole session)", true
}

// structured reads the result of a child that has a schema. What a child wrote before it failed does not count as one.
func structured(r *hermes.Report, f fits) {
	if f.schema == nil {
		return
	}
	if r.Status == hermes.ChildFailed {
		r.Misfit = "there is no answer"
		return
	}
	value, err := f.value(r.Summary)
	if r.Result = value; err != nil {
		r.Misfit = err.Error()
	}
}

// described returns what the store and the tools know of a child session, with its own children.
func (m *Manager) described(ctx context.Context, row hermes.Session, transcript []hermes.Message, tools hermes.Tools, how hermes.ChildStatus) hermes.Report {
	r := hermes.Report{
		Session: row.ID, Summary: lastText(transcript), Status: how, Steps: steps(transcript), Usage: row.Usage,
		Provenance: hermes.AddProvenance(row.Provenance, hermes.TranscriptProvenance(transcript)),
	}
	m.addChanges(ctx, &r, row.ID, transcript, tools)
	below, err := m.childrenOf(ctx, row.ID, nil)
	if err != nil {
		m.cfg.Log.Warn("list the children of a child session", "session", row.ID, "err", err)
		r.Provenance, r.MayBeMore = hermes.AddProvenance(r.Provenance, unread), true
	}
	for _, c := range below {
		list, err := m.cfg.Store.Messages(ctx, c.ID, hermes.Range{Raw: true})
		if err != nil {
			r.Provenance, r.MayBeMore = hermes.AddProvenance(r.Provenance, unread), true
			continue
		}
		sub := m.described(ctx, c, list, tools, "")
		r.Cost += sub.Cost
		r.Files, r.MayBeMore = append(r.Files, sub.Files...), r.MayBeMore || sub.MayBeMore
		r.Provenance = hermes.AddProvenance(r.Provenance, sub.Provenance)
	}
	slices.Sort(r.Files)
	r.Files = slices.Compact(r.Files)
	return r
}

// addChanges adds what a session changed and what it cost.
func (m *Manager) addChanges(ctx context.Context, r *hermes.Report, id string, transcript []hermes.Message, tools hermes.Tools) {
	if m.cfg.Children.Cost != nil {
		r.Cost = m.cfg.Children.Cost(ctx, id)
	}
	if m.cfg.Children.Changed != nil {
		r.Files = m.cfg.Children.Changed(id, transcript)
	}
	r.MayBeMore = slices.ContainsFunc(transcript, func(msg hermes.Message) bool {
		return slices.ContainsFunc(msg.Calls, func(c hermes.ToolCall) bool { return changesMore(tools, c.Forwarded()) })
	})
}

// changesMore reports whether a call may change files that nothing lists: it neither only reads, nor says
// which files it touches, nor starts children, which have reports of their own.
func changesMore(tools hermes.Tools, c hermes.ToolCall) bool {
	spec, known := tools.Spec(c.Name)
	if !known {
		return true
	}
	switch spec.EffectOf(json.RawMessage(c.Arguments)) {
	case hermes.EffectNone, hermes.EffectAsk, hermes.EffectResumes:
		return false
	}
	return spec.Paths == nil && !spec.PlansOnly
}

// lastText returns the text of the last answer that has one.
func lastText(transcript []hermes.Message) string {
	for _, m := range slices.Backward(transcript) {
		if text := m.Text(); m.Role == hermes.RoleAssistant && text != "" {
			return text
		}
	}
	return ""
}

// steps counts the answers of the model.
func steps(transcript []hermes.Message) int {
	n := 0
	for _, m := range transcript {
		if m.Role == hermes.RoleAssistant && !m.Synthetic {
			n++
		}
	}
	return n
}
