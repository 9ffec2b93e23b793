package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// DialogPolicy says what happens to a dialog of a page.
type DialogPolicy string

// Policies for dialogs.
const (
	MustRespond DialogPolicy = "must_respond" // it waits for AnswerDialog; the default
	AutoDismiss DialogPolicy = "auto_dismiss"
	AutoAccept  DialogPolicy = "auto_accept"
)

// Dialog is a dialog that a page shows or showed.
type Dialog struct {
	Kind    string // alert, confirm, prompt, beforeunload
	Message string
	Default string // of a prompt
	URL     string // of the document that asks
	// Answer is empty as long as it is open; else accepted or dismissed.
	Answer string
}

func (d Dialog) String() string { return fmt.Sprintf("%s %q", d.Kind, d.Message) }

// DialogError says that the page waits for the answer to a dialog.
type DialogError struct{ Dialog Dialog }

func (e *DialogError) Error() string {
	return "the page shows a dialog: " + e.Dialog.String() + "; answer it first"
}

// ErrNoDialog says that there is nothing to answer.
var ErrNoDialog = errors.New("the page shows no dialog")

type openDialog struct {
	Dialog
	session  string
	timer    *time.Timer
	byPolicy bool // it is answered without a caller
}

// dialogOpened ends calls that cannot go on until a dialog is answered.
type dialogOpened struct{ dialog *openDialog }

func (*dialogOpened) Error() string { return "a dialog has opened" }

func (p *Page) dialogOpens(s *session, raw json.RawMessage) {
	var v struct{ Message, Type, DefaultPrompt, URL string }
	if json.Unmarshal(raw, &v) != nil {
		return
	}
	d := &openDialog{Dialog: Dialog{Kind: v.Type, Message: clean(v.Message, 2000), Default: clean(v.DefaultPrompt, 500), URL: clean(v.URL, maxURL)}, session: s.id}
	policy := p.b.opts.Dialogs
	p.update(func() {
		p.state.dialog = d
		if policy == AutoDismiss || policy == AutoAccept {
			return
		}
		p.state.disturb(&dialogOpened{d})
		d.timer = time.AfterFunc(p.b.opts.DialogTimeout, func() { p.answerByPolicy(d, false) })
	})
	if policy == AutoDismiss || policy == AutoAccept {
		p.b.work.Go(func() { p.answerByPolicy(d, policy == AutoAccept) })
	}
}

// answerByPolicy answers a dialog as the policy says, if it is still open.
func (p *Page) answerByPolicy(d *openDialog, accept bool) {
	p.mu.Lock()
	open := p.state.dialog == d
	d.byPolicy = d.byPolicy || open
	p.mu.Unlock()
	if open {
		_ = p.answer(p.b.life, d, accept, d.Default) // if it fails, the dialog or the browser has gone
	}
}

func (p *Page) answer(ctx context.Context, d *openDialog, accept bool, text string) error {
	err := p.b.call(ctx, d.session, "Page.handleJavaScriptDialog", fields{"accept": accept, "promptText": text}, nil)
	if err != nil {
		return err
	}
	p.update(func() { p.dialogEnds(d, accept) })
	return nil
}

// dialogEnds makes the page usable again. Call it within update.
func (p *Page) dialogEnds(d *openDialog, accepted bool) {
	if d == nil || p.state.dialog != d {
		return
	}
	d.Answer = "dismissed"
	if accepted {
		d.Answer = "accepted"
	}
	if d.byPolicy {
		answer := d.Dialog
		p.state.answered = &answer
	}
	if d.timer != nil {
		d.timer.Stop()
	}
	p.state.dialog = nil
	if p.state.quiet.Err() != nil {
		p.state.quiet, p.state.disturb = context.WithCancelCause(p.b.life)
	}
}

func (p *Page) dialogCloses(accepted bool) {
	p.update(func() { p.dialogEnds(p.state.dialog, accepted) })
}

// Dialog returns the dialog that the page shows, or nil.
func (p *Page) Dialog() *Dialog {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.dialog == nil {
		return nil
	}
	d := p.state.dialog.Dialog
	return &d
}

// AnswerDialog accepts or dismisses the dialog that the page shows. The text is the answer to
// a prompt.
func (p *Page) AnswerDialog(ctx context.Context, accept bool, text string) (Outcome, error) {
	p.acting.Lock()
	defer p.acting.Unlock()
	p.mu.Lock()
	d := p.state.dialog
	p.mu.Unlock()
	if d == nil {
		return Outcome{}, ErrNoDialog
	}
	return p.act(ctx, func(ctx context.Context) error { return p.answer(ctx, d, accept, text) })
}
