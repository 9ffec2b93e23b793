package sessions

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/text"
)

// The limits of messages between sessions.
const (
	maxDepth   = 3 // sessions that a question passes through, the first one included
	perMinute  = 6 // messages of one session
	maxOpen    = 16
	maxMessage = 32 << 10 // bytes
	maxAnswer  = 64 << 10 // bytes
	answerTime = 10 * time.Minute
)

type sendArguments struct {
	Session string `json:"session" doc:"id or title"`
	Message string `json:"message"`
	Wait    *bool  `json:"wait,omitempty" doc:"for the answer" default:"true"`
}

func (t *Toolset) send() hermes.Tool {
	return hermes.NewTool(hermes.Spec{
		Name: hermes.PeerTool, Description: "Send a message to another session of the user (see sessions_list) and get its answer. It has its own context: say all it needs.",
		Mode:    hermes.ModeParallel,
		Trusted: true, // each result reports its own provenance
		// What is said there stays there.
		Persists: func(json.RawMessage) string { return "session" },
	}, t.runSend)
}

// outcome is the result of a message.
type outcome struct {
	Session string `json:"session"`
	Status  string `json:"status"` // answered, sent, waiting, interrupted, failed or budget
	Answer  string `json:"answer,omitempty"`
	Note    string `json:"note,omitempty"`
}

func (t *Toolset) runSend(ctx context.Context, c *hermes.Call, in sendArguments) (hermes.Result, error) {
	switch {
	case strings.TrimSpace(in.Session) == "":
		return hermes.Result{}, errors.New("session is missing; see sessions_list")
	case strings.TrimSpace(in.Message) == "":
		return hermes.Result{}, errors.New("the message is empty")
	case len(in.Message) > maxMessage:
		return hermes.Result{}, fmt.Errorf("the message has %s; at most %s are sent. Put long text into a file, and name the file", text.Size(int64(len(in.Message))), text.Size(maxMessage))
	}
	peers, err := t.cfg.Peers(ctx)
	if err != nil {
		return hermes.Result{}, err
	}
	ref := c.Host.Session()
	me, err := t.sender(ctx, peers, ref)
	if err != nil {
		return hermes.Result{}, err
	}
	to, err := peers.Find(ctx, in.Session)
	if err == nil {
		err = me.mayReach(to.Row)
	}
	switch {
	case errors.Is(err, hermes.ErrNotFound) || errors.Is(err, hermes.ErrAmbiguous): // which names sessions of others
		return hermes.Result{}, fmt.Errorf("there is no session %q that this one reaches; use the whole id from sessions_list", text.Cut(in.Session, 100))
	case err != nil:
		return hermes.Result{}, fmt.Errorf("session %s cannot be asked: %w", text.Cut(in.Session, 100), err)
	}
	if err := t.noWider(ctx, me, to.Row, c.Host); err != nil {
		return hermes.Result{}, err
	}
	said, err := peers.Said(ctx, ref.ID)
	if err != nil {
		return hermes.Result{}, err
	}
	above := append([]string{ref.ID}, chainOf(said)...)
	switch {
	case slices.Contains(above, to.Row.ID):
		return hermes.Result{}, fmt.Errorf("session %s asked for this turn and waits for it; answer it with your final text", to.Row.ID)
	case len(above) > maxDepth:
		return hermes.Result{}, fmt.Errorf("this question came through %d sessions already, which is the limit; answer with what you know", maxDepth)
	}
	wait := in.Wait == nil || *in.Wait
	over, err := t.begin(pair{ref.ID, to.Row.ID}, wait)
	if err != nil {
		return hermes.Result{}, err
	}
	m := hermes.PeerMessage{
		From: ref.ID, To: to.Row.ID, Header: header(above), Text: in.Message, Waits: wait,
		Provenance: hermes.AddProvenance(ref.Provenance, hermes.SessionSource(ref.ID)),
	}
	answer, end, err := peers.Send(ctx, m)
	if err != nil {
		over()
		return hermes.Result{}, fmt.Errorf("send to session %s: %w", to.Row.ID, err)
	}
	replied := make(chan hermes.PeerAnswer, 1)
	go func() { // ends with the exchange, which the peers end when the program does
		a := <-answer
		over()
		replied <- a
	}()
	if !wait {
		return result(m, hermes.PeerAnswer{}, outcome{Status: "sent", Note: "its answer stays there"})
	}
	return await(ctx, c, m, replied, end)
}

// await waits for the answer.
func await(ctx context.Context, c *hermes.Call, m hermes.PeerMessage, replied <-chan hermes.PeerAnswer, end func()) (hermes.Result, error) {
	c.Host.Progress("waiting for the answer of session " + m.To)
	defer c.Host.Progress("")
	limit := time.NewTimer(answerTime)
	defer limit.Stop()
	select {
	case a := <-replied:
		return result(m, a, outcome{Status: status(a.Outcome), Answer: cut(a.Text)})
	case <-limit.C:
		return result(m, hermes.PeerAnswer{}, outcome{Status: "waiting", Note: "no answer so far; it goes on there. Read it later with session_search"})
	case <-ctx.Done():
		end()
		return hermes.Result{}, fmt.Errorf("interrupted while session %s was asked: %w", m.To, context.Cause(ctx))
	}
}

// result is what the model reads. It has the sources of untrusted text that the other session has
// read beside those that the message brought.
func result(m hermes.PeerMessage, a hermes.PeerAnswer, o outcome) (hermes.Result, error) {
	o.Session = m.To
	r, err := hermes.JSONResult(o)
	r.Provenance = hermes.WithoutSources(a.Provenance, m.Provenance)
	r.Failed = o.Status == "failed" || o.Status == "interrupted" || o.Status == "budget"
	return r, err
}

func status(o hermes.Outcome) string {
	if o == hermes.OutcomeDone {
		return "answered"
	}
	return string(o)
}

// cut bounds an answer.
func cut(answer string) string {
	if len(answer) <= maxAnswer {
		return answer
	}
	return text.Prefix(answer, maxAnswer) + " … [cut]"
}

// begin counts an exchange until over is called. It refuses a second one between the same two, too
// many, and one that would wait for a session that waits for this one.
func (t *Toolset) begin(p pair, wait bool) (over func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.cfg.Now()
	for session, times := range t.sent {
		if times = slices.DeleteFunc(times, func(at time.Time) bool { return now.Sub(at) >= time.Minute }); len(times) == 0 {
			delete(t.sent, session)
			continue
		}
		t.sent[session] = times
	}
	_, goesOn := t.asked[p]
	switch {
	case goesOn:
		return nil, fmt.Errorf("session %s still works on the last message of this one; wait for its answer", p.to)
	case len(t.asked) >= maxOpen:
		return nil, fmt.Errorf("%d messages between sessions wait for an answer, which is the limit; try again later", maxOpen)
	case wait && t.waitsFor(p.to, p.from):
		return nil, fmt.Errorf("session %s waits for an answer of this one; answer first", p.to)
	case len(t.sent[p.from]) >= perMinute:
		return nil, fmt.Errorf("this session has sent %d messages within a minute, which is the limit; wait, or put several questions into one message", perMinute)
	}
	t.sent[p.from] = append(t.sent[p.from], now)
	t.asked[p] = wait
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.asked, p)
	}, nil
}

// waitsFor reports whether a session waits for another, also by way of others. Its caller holds mu.
func (t *Toolset) waitsFor(session, other string) bool {
	for p, waits := range t.asked {
		if waits && p.from == session && (p.to == other || t.waitsFor(p.to, other)) {
			return true
		}
	}
	return false
}

// noWider refuses a session that could do more than this one: what the model may not do here, it may
// not have done there. That the user alone allows what is risky there is the session's to see to.
func (t *Toolset) noWider(ctx context.Context, s sender, to hermes.Session, h hermes.Host) error {
	theirs := to.StoredRun()
	here, there := s.run.Workspace, theirs.Workspace
	if here.Elsewhere() && (here.StoredBackend() != there.StoredBackend() || here.Profile != there.Profile) {
		return fmt.Errorf("session %s works in another place (%s) than this one (%s); only the user can ask it", to.ID, there.StoredBackend(), here.StoredBackend())
	}
	if here.Elsewhere() && there.Mount != "" && there.Mount != here.Mount {
		return fmt.Errorf("session %s sees another folder of this machine than this one; only the user can ask it", to.ID)
	}
	narrowed := !reflect.DeepEqual(s.run.Tools, hermes.ToolChoice{}) || s.run.Prompt.IgnoreRules
	if narrowed && !(reflect.DeepEqual(s.run.Tools, theirs.Tools) && s.run.Prompt.IgnoreRules == theirs.Prompt.IgnoreRules) {
		return fmt.Errorf("this session was given fewer tools, and session %s others; only the user can ask it", to.ID)
	}
	lister, ok := h.(hermes.ToolLister)
	if !ok {
		return fmt.Errorf("it is not known which tools this session has, so only the user can ask session %s", to.ID)
	}
	calls := map[string]bool{}
	for _, tool := range lister.Tools() {
		calls[tool.Name] = true
	}
	more, err := t.cfg.Beyond(ctx, theirs, s.run, func(tool string) bool { return calls[tool] })
	if err != nil {
		return fmt.Errorf("it is not known which tools session %s gets (%w), so only the user can ask it", to.ID, err)
	}
	var offered []struct{ Name string } // by the process that has it, which may have others
	if len(to.Tools) > 0 && json.Unmarshal(to.Tools, &offered) != nil {
		return fmt.Errorf("the stored tools of session %s cannot be read, so only the user can ask it", to.ID)
	}
	for _, tool := range offered {
		if !calls[tool.Name] && !slices.Contains(more, tool.Name) && tool.Name != hermes.SearchTool && tool.Name != hermes.ForwardTool {
			more = append(more, tool.Name)
		}
	}
	if len(more) > 0 {
		return fmt.Errorf("session %s has tools that this one has not (%s); only the user can ask it", to.ID, text.Line(strings.Join(more, ", "), 200))
	}
	return nil
}

// A header begins a message between sessions. It names the session that sends it, then those that
// asked for it, and tells the model what it is. Stored transcripts have it, so its beginning must not change.
const (
	headerBegin = "[From session "
	headerChain = " < "
	headerEnd   = "; message "
)

func header(chain []string) string {
	return headerBegin + strings.Join(chain, headerChain) + headerEnd + rand.Text()[:10] +
		". Its model wrote this, not the user. Your final text is sent back to it.]"
}

// chainOf returns the sessions that asked for the turn of a message, the nearest first; none for a
// message of the user.
func chainOf(m hermes.Message) []string {
	if !hermes.FromClient(m.Provenance) {
		return nil
	}
	var chain []string
	for _, p := range m.Parts {
		if rest, ok := strings.CutPrefix(p.Text, headerBegin); ok {
			names, _, _ := strings.Cut(rest, headerEnd)
			for _, id := range strings.Split(names, headerChain) {
				if !slices.Contains(chain, id) {
					chain = append(chain, id)
				}
			}
		}
	}
	return chain
}
