package chat

import (
	"cmp"
	"encoding/json"
	"io"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/protocol"
	"hermes/internal/tui"
)

// refusal is a call that was not run because it needed approval or is never allowed.
type refusal struct {
	Tool    string `json:"tool"`
	Call    string `json:"call"`    // its id
	Subject string `json:"subject"` // the main argument, shortened
	Reason  string `json:"reason"`
	// Outcome is forbidden if no one can allow the call, denied otherwise.
	Outcome string `json:"outcome"`
	Session string `json:"session,omitempty"` // of the child that made it
}

// recorder is a printer that remembers the calls that were refused and, with lines, prints the
// events as they travel.
type recorder struct {
	tui.Printer
	lines   *lines // nil prints no events
	refused []refusal
}

// begin prints the first line of a stream.
func (r *recorder) begin(session string) {
	if r.lines != nil {
		r.lines.print(struct {
			Type    string `json:"type"`
			Version int    `json:"version"`
			Session string `json:"session"`
			Hermes  string `json:"hermes"`
		}{"begin", protocol.Version, session, app.Version})
	}
}

// Envelope takes the events of the session and of its children.
func (r *recorder) Envelope(e protocol.Envelope) {
	if done, ok := e.Event.(hermes.CallDone); ok && done.Failed {
		r.call(done, e)
	}
	if r.lines != nil {
		r.lines.print(e)
	}
}

// call remembers a call that was refused, as the tool chain words it.
func (r *recorder) call(done hermes.CallDone, e protocol.Envelope) {
	var said struct {
		Approved *bool  `json:"approved"`
		Consent  *bool  `json:"user_consent"`
		Outcome  string `json:"outcome"`
		Reason   string `json:"reason"`
	}
	if json.Unmarshal([]byte(done.Result.Text()), &said) != nil || said.Approved == nil || said.Consent == nil || *said.Approved {
		return
	}
	refused := refusal{Tool: done.Call.Name, Call: done.Call.ID, Subject: done.Preview, Reason: said.Reason, Outcome: said.Outcome}
	if e.Parent != "" {
		refused.Session = e.Session
	}
	r.refused = append(r.refused, refused)
}

// Err is the first write error.
func (r *recorder) Err() error {
	if r.lines == nil {
		return r.Printer.Err()
	}
	return cmp.Or(r.Printer.Err(), r.lines.err)
}

// lines writes JSON values, one a line, until a write fails.
type lines struct {
	w   io.Writer
	err error
}

func (l *lines) print(v any) {
	if l.err != nil {
		return
	}
	e := json.NewEncoder(l.w)
	e.SetEscapeHTML(false)
	l.err = e.Encode(v)
}
