package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hermes"
	"hermes/internal/text"
)

const (
	methodFit = "context/fit"
	fitTime   = 2 * time.Minute
	maxFit    = 100_000 // characters of each text
)

// fitCall are the params of context/fit, and fitDone its result.
type fitCall struct {
	Call       string       `json:"call"`
	Session    wireSession  `json:"session"`
	Transcript []fitMessage `json:"transcript"`
	Usage      fitUsage     `json:"usage"`
}

type fitMessage struct {
	Role string `json:"role"`
	Text string `json:"text,omitempty"`
	// Summary is the text of an earlier pass, which replaced the messages before.
	Summary string `json:"summary,omitempty"`
	// Synthetic marks what looks like a message of the user, and is none.
	Synthetic bool      `json:"synthetic,omitempty"`
	Calls     []fitTool `json:"calls,omitempty"`
	CallID    string    `json:"call_id,omitempty"` // of a result
	Name      string    `json:"name,omitempty"`    // of the tool of a result
	Failed    bool      `json:"failed,omitempty"`
	Images    int       `json:"images,omitempty"`
}

type fitTool struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type fitUsage struct {
	Model    string `json:"model,omitempty"`
	Tokens   int    `json:"tokens"`
	Window   int    `json:"window"`
	Overflow bool   `json:"overflow,omitempty"`
	Idle     bool   `json:"idle,omitempty"`
	Demand   bool   `json:"demand,omitempty"`
	Focus    string `json:"focus,omitempty"`
	Keep     int    `json:"keep,omitempty"`
}

type fitDone struct {
	Messages []struct {
		From   *int       `json:"from"`
		Insert *fitInsert `json:"insert"`
	} `json:"messages"`
}

type fitInsert struct {
	Text string `json:"text"`
}

// FitPiece is a part of what a plugin wants to be sent: the message with the index From or, if From
// is negative, a text in place of messages that are left out.
type FitPiece struct {
	From int
	Text string
}

// Fitter is a plugin that says what of a transcript is sent. Its methods may be called concurrently.
type Fitter struct {
	plugin  *Plugin
	session hermes.SessionRef
	mask    func(string) string
}

// Fitter returns what a plugin of the kind context says for a session. mask removes secrets from what
// the plugin gets; nil removes none.
func (s *Plugins) Fitter(plugin string, session hermes.SessionRef, mask func(string) string) (*Fitter, error) {
	if mask == nil {
		mask = func(s string) string { return s }
	}
	for _, p := range s.list {
		if p.Name() == plugin && p.manifest.has(KindContext) {
			return &Fitter{p, session, mask}, nil
		}
	}
	return nil, fmt.Errorf("no plugin %q that is a context engine is enabled; `hermes plugins list` shows them", text.VisibleName(plugin))
}

// Fit asks the plugin, for 2 minutes at most, or less if its manifest says so. No pieces mean the
// whole transcript. They are as the plugin says: the caller checks them.
func (f *Fitter) Fit(ctx context.Context, transcript []hermes.Message, u hermes.ContextUsage) ([]FitPiece, error) {
	p := f.plugin
	list := make([]fitMessage, len(transcript))
	for i := range transcript {
		list[i] = f.message(transcript[i])
	}
	in := f.session
	in.Model = u.Model
	var r fitDone
	err := p.call(ctx, methodFit, fitHost{in}, min(p.manifest.callTime(), fitTime), func(id string) any {
		return fitCall{Call: id, Session: session(in), Transcript: list, Usage: fitUsage{
			Model: u.Model, Tokens: u.Used, Window: u.Window, Overflow: u.Overflow, Idle: u.Idle, Demand: u.Demand, Focus: text.Cut(f.mask(u.Focus), maxFit), Keep: u.Keep,
		}}
	}, &r)
	if err != nil {
		return nil, err
	}
	pieces := make([]FitPiece, len(r.Messages))
	for i, m := range r.Messages {
		switch {
		case (m.From == nil) == (m.Insert == nil), m.From != nil && *m.From < 0:
			return nil, fmt.Errorf("the plugin %s answered with a message that is neither from an index nor a text", p.Name())
		case m.From != nil:
			pieces[i].From = *m.From
		default:
			pieces[i] = FitPiece{-1, text.Cut(text.Plain(m.Insert.Text), maxFit)}
		}
	}
	return pieces, nil
}

// message is a message as a plugin gets it.
func (f *Fitter) message(m hermes.Message) fitMessage {
	out := fitMessage{Role: string(m.Role), Synthetic: m.Synthetic, CallID: m.CallID, Name: m.ToolName, Failed: m.Failed}
	if len(m.Parts) > 0 && m.Parts[0].Anchors != nil {
		out.Summary = text.Cut(f.mask(m.Parts[0].Anchors.Words), maxFit)
		m.Parts = m.Parts[1:]
	}
	out.Text = text.Cut(f.mask(m.Text()), maxFit)
	for _, p := range m.Parts {
		if p.Image != nil {
			out.Images++
		}
	}
	for _, c := range m.Calls {
		out.Calls = append(out.Calls, fitTool{c.ID, c.Name, text.Cut(f.mask(c.Arguments), maxFit)})
	}
	return out
}

// fitHost lets a plugin ask a model while it makes a summary, and nothing else: no tool runs and no
// user is asked while the transcript is being shortened.
type fitHost struct{ session hermes.SessionRef }

var errFitting = errors.New("not while the conversation is shortened")

func (h fitHost) Session() hermes.SessionRef      { return h.session }
func (h fitHost) Environment() hermes.Environment { return nil }
func (h fitHost) Progress(string)                 {}
func (h fitHost) Approve(context.Context, hermes.ApprovalRequest) (hermes.ApprovalAnswer, error) {
	return hermes.ApprovalAnswer{}, errFitting
}
func (h fitHost) Ask(context.Context, hermes.Question) (hermes.Answer, error) {
	return hermes.Answer{}, errFitting
}
func (h fitHost) Spawn(context.Context, hermes.Task) (hermes.Report, error) {
	return hermes.Report{}, errFitting
}
func (h fitHost) Invoke(context.Context, string, json.RawMessage) (hermes.Result, error) {
	return hermes.Result{}, errFitting
}
