// Package messaging is the toolset with the tool send_message, which sends a text to a person or a
// chat of a messaging platform.
//
// It owns the arguments and the results of the tool, and names the recipient in its one form, so
// that the tool chain asks the user about a new one. Who can be reached and how a text gets there is
// the [hermes.Messenger]'s. While that has no target, the toolset is not available. Start at [New].
package messaging

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/text"
)

// Toolset is the tool send_message. It may be used concurrently.
type Toolset struct{ connected func() hermes.Messenger }

var _ hermes.Toolset = (*Toolset)(nil)

// New makes the toolset. connected returns the messenger, nil while there is none.
func New(connected func() hermes.Messenger) *Toolset { return &Toolset{connected: connected} }

// Name is "messaging".
func (t *Toolset) Name() string { return "messaging" }

// Available says that there is no one to send to, or "".
func (t *Toolset) Available(context.Context) string {
	if m := t.connected(); m == nil || len(m.Targets()) == 0 {
		return "no messaging platform is connected"
	}
	return ""
}

const name = "send_message"

// Tools returns the tool.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	tool := hermes.NewTool(hermes.Spec{
		Name: name, Description: "Send a text to a person or chat of a messaging platform, or list the targets. The user is asked about each new target.",
		ReadsOnly: func(raw json.RawMessage) bool { return read(raw).Action == "list" },
		Sends:     t.sends,
		Trusted:   true, // what others wrote is named in each result
	}, t.run)
	return []hermes.Tool{checked{tool, t}}, nil
}

// checked is the tool, which refuses a call that cannot be sent before the user is asked, and says to whom it goes.
type checked struct {
	hermes.Tool
	set *Toolset
}

// AssessRisk refuses what run would refuse; see [hermes.RiskAssessor]. Whom a message goes to is a risk by itself.
func (k checked) AssessRisk(_ context.Context, c *hermes.Call) []hermes.Risk {
	in := read(c.Arguments)
	if in.Action == "list" {
		return nil
	}
	if _, err := k.set.check(c, in); err != nil {
		return []hermes.Risk{{Key: "message", Reason: err.Error(), Deny: true, Mistake: true}}
	}
	return nil
}

// Subject says to whom the message goes. Rules read all that is written in the call; see [hermes.SubjectNamer].
func (k checked) Subject(_ context.Context, c *hermes.Call) hermes.Subject {
	in := read(c.Arguments)
	id, _ := k.set.check(c, in)
	return hermes.Subject{Text: id, Detail: goesTo(id), Commands: []string{in.Action, in.Message, in.Target, id}}
}

func goesTo(id string) string { return "goes to " + id }

type arguments struct {
	Action  string `json:"action,omitempty" enum:"send,list" default:"send"`
	Target  string `json:"target,omitempty" doc:"platform, platform:#name, platform:chat or platform:chat:thread"`
	Message string `json:"message,omitempty"`
}

// maxMessage bounds a message, in bytes, and maxTargets a list.
const (
	maxMessage = 32 << 10
	maxTargets = 100
)

// read decodes arguments; what does not fit is empty.
func read(raw json.RawMessage) (in arguments) {
	_ = json.Unmarshal(raw, &in)
	return in
}

// sends names the recipient. One that is not known is named as it is written: the call fails then.
func (t *Toolset) sends(raw json.RawMessage) hermes.Outgoing {
	in := read(raw)
	if in.Action == "list" {
		return hermes.Outgoing{}
	}
	to := strings.TrimSpace(in.Target)
	if m := t.connected(); m != nil {
		if id, ok := m.Resolve(to); ok {
			to = id
		}
	}
	return hermes.Outgoing{To: []string{to}, Texts: []string{in.Message}}
}

// check returns the target of a message in its one form, or why it cannot be sent, worded for the model.
func (t *Toolset) check(c *hermes.Call, in arguments) (id string, err error) {
	m, to := t.connected(), strings.TrimSpace(in.Target)
	switch {
	case m == nil:
		return "", errors.New("no messaging platform is connected; tell the user what you wanted to send")
	case c.Host != nil && c.Host.Session().Depth > 0:
		return "", errors.New("a child session sends no messages; put the text into your report")
	case in.Action == "list":
		return "", nil
	case to == "":
		return "", fmt.Errorf("target is missing; call %s with action list to see the targets", name)
	case strings.TrimSpace(in.Message) == "":
		return "", errors.New("the message is empty")
	case len(in.Message) > maxMessage:
		return "", fmt.Errorf("the message has %s; at most %s are sent. Shorten it, or send it in parts", text.Size(int64(len(in.Message))), text.Size(maxMessage))
	}
	id, ok := m.Resolve(to)
	if !ok {
		return "", fmt.Errorf("there is no target %q; call %s with action list to see the targets", text.Cut(to, 200), name)
	}
	return id, nil
}

func (t *Toolset) run(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	id, err := t.check(c, in)
	switch {
	case err != nil:
		return hermes.Result{}, err
	case in.Action == "list":
		return list(t.connected().Targets())
	case len(c.To) > 0 && c.To[0] != id || c.Approved != nil && c.Approved.Detail != goesTo(id):
		return hermes.Result{}, fmt.Errorf("the message would go to %s by now, and that is not what was allowed; call it again", id)
	}
	return send(ctx, t.connected(), c.Host.Session(), id, in.Message)
}

// sent is the result of a message.
type sent struct {
	Success   bool   `json:"success"`
	Target    string `json:"target"`
	MessageID string `json:"message_id,omitempty"`
	Note      string `json:"note,omitempty"`
	Mirrored  bool   `json:"mirrored,omitempty"`
	Error     string `json:"error,omitempty"`
}

// send sends the text. What the platform says about it is untrusted.
func send(ctx context.Context, m hermes.Messenger, from hermes.SessionRef, id, message string) (hermes.Result, error) {
	d, err := m.Send(ctx, from, id, message)
	if ctx.Err() != nil {
		return hermes.Result{}, fmt.Errorf("interrupted; the message to %s may have been sent: %w", id, context.Cause(ctx))
	}
	out := sent{Success: err == nil, Target: id, MessageID: d.MessageID, Note: d.Note, Mirrored: d.Mirrored}
	if err != nil {
		out.Error = err.Error()
	}
	r, failed := hermes.JSONResult(out)
	r.Failed = err != nil
	if out.Note != "" || out.Error != "" || out.MessageID != "" {
		r.Provenance = hermes.ProvenanceSource(name, id)
	}
	return r, failed
}

// listed is a target in the list.
type listed struct {
	Target string `json:"target"`
	Name   string `json:"name,omitempty"`
}

func list(all []hermes.MessageTarget) (hermes.Result, error) {
	out := struct {
		Targets []listed `json:"targets"`
		More    int      `json:"more,omitempty"`
	}{Targets: []listed{}, More: max(len(all)-maxTargets, 0)}
	for _, one := range all[:min(len(all), maxTargets)] {
		out.Targets = append(out.Targets, listed{one.ID, text.Line(one.Name, 80)})
	}
	r, err := hermes.JSONResult(out)
	r.Provenance = hermes.ProvenanceSource(name, "names of targets")
	return r, err
}
