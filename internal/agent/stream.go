package agent

import (
	"context"
	"errors"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/thinktag"
)

// maxShorten is how often a request that is too long is shortened and sent again.
// Each time the window may turn out to be smaller.
const maxShorten = 5

// ask sends the transcript and returns the answer as a message. It emits the
// deltas as they arrive. With an error it returns what had arrived. A request
// that is too long is shortened and sent again while that makes it shorter.
func (l *loop) ask(ctx context.Context, wordsOnly bool) (hermes.Message, error) {
	m, err := l.askOnce(ctx, wordsOnly, false)
	for i := range maxShorten {
		e, ok := errors.AsType[*hermes.ModelError](err)
		if !ok || !e.Compress || l.Context == nil || ctx.Err() != nil {
			return m, err
		}
		l.notice(hermes.NoticeInfo, "The conversation is too long for the model. Shortening it and trying again.")
		steps, before := l.steps, length(l.Transcript)
		m, err = l.askOnce(ctx, wordsOnly, true)
		if err == nil {
			return m, nil
		}
		if l.steps == steps { // nothing could be shortened
			if i == 0 && e.Retry && ctx.Err() == nil {
				return l.askOnce(ctx, wordsOnly, false) // the length was only a guess
			}
			return m, tooLong{err}
		}
		if length(l.Transcript) >= before {
			return m, err
		}
	}
	return m, err
}

// tooLong is the error of a request that is too long and cannot be shortened.
type tooLong struct{ error }

func (e tooLong) Unwrap() error { return e.error }

// length returns the size of messages in bytes.
func length(list []hermes.Message) int {
	n := 0
	for _, m := range list {
		for _, p := range m.Parts {
			n += len(p.Text)
			if p.Image != nil {
				n += len(p.Image.Data) + len(p.Image.URL)
			}
		}
		for _, c := range m.Calls {
			n += len(c.Arguments)
		}
	}
	return n
}

func (l *loop) askOnce(ctx context.Context, wordsOnly, overflow bool) (hermes.Message, error) {
	result, err := l.fit(ctx, overflow)
	if err != nil {
		return hermes.Message{}, err
	}
	r := l.Request
	r.Messages = result
	r.WordsOnly = wordsOnly
	l.steps++
	l.emit(hermes.StepStarted{Step: l.steps, Model: l.Model.ID()})
	s := &stream{loop: l}
	for d, err := range l.Model.Stream(ctx, &r) {
		if err != nil {
			m := s.message()
			l.spend(m) // a failed call costs money too
			return m, err
		}
		s.take(d)
		if l.stopped {
			return s.message(), context.Canceled
		}
	}
	m := s.message()
	l.count(m)
	return m, nil
}

// fit lets the context engine shorten the transcript. The consumer stores the
// result, which is the transcript from then on.
func (l *loop) fit(ctx context.Context, overflow bool) ([]hermes.Message, error) {
	if l.Context == nil {
		return l.Transcript, nil
	}
	p := hermes.ContextUsage{
		Model: l.Model.ID(), Used: l.full(), Counted: l.counted, Window: l.Window(), Overflow: overflow,
	}
	f, err := l.Context.Fit(ctx, l.Transcript, p)
	if err != nil || f.From == nil {
		if f.Note != "" {
			l.notice(hermes.NoticeWarning, f.Note)
		}
		return l.Transcript, err
	}
	if !l.emit(hermes.Compacted{CompactResult: f, Note: f.Note}) {
		return nil, context.Canceled
	}
	l.Transcript = slices.Clip(f.Messages)
	l.last, l.counted = hermes.Usage{}, 0
	return l.Transcript, nil
}

func (l *loop) count(m hermes.Message) {
	if m.Usage != nil {
		l.last, l.counted = *m.Usage, len(l.Transcript)+1 // the answer is appended next
	}
	l.spend(m)
}

// spend adds the usage of a call to the turn's and reports both.
func (l *loop) spend(m hermes.Message) {
	if m.Usage == nil {
		l.emit(hermes.UsageUpdated{Step: l.last, Turn: l.usage, Model: m.Model})
		return
	}
	l.usage = l.usage.Add(*m.Usage)
	l.emit(hermes.UsageUpdated{Step: *m.Usage, Turn: l.usage, Model: m.Model})
}

// full returns how many tokens of the window the last answer used. Its usage
// includes failed attempts, each with about the same prompt.
func (l *loop) full() int {
	return int((l.last.Prompt() + l.last.Output) / max(l.last.Calls, 1))
}

// stream builds one answer from its deltas and emits them as events.
type stream struct {
	*loop
	answer hermes.Assembly // without the text and the thinking in it
	split  thinktag.Splitter
	text   []byte          // for the reader
	inline strings.Builder // the thinking in the text
	marked strings.Builder // the thinking that the service marked
	name   string          // of the call being written
	bytes  int
}

func (s *stream) take(d hermes.Delta) {
	switch {
	case d.Text != "":
		s.show(s.split.Feed(d.Text))
	case d.Reasoning != "":
		s.marked.WriteString(d.Reasoning)
		s.answer.Add(d)
		s.emit(hermes.ReasoningDelta{Text: d.Reasoning})
	case d.Reset != "":
		*s = stream{loop: s.loop, answer: s.answer}
		s.answer.Add(d)
		s.emit(hermes.Reset{Reason: d.Reset})
	case d.Notice != "":
		s.notice(hermes.NoticeWaiting, d.Notice)
	case d.Warning != "":
		s.notice(hermes.NoticeWarning, d.Warning)
	case d.Call != nil:
		s.answer.Add(d)
		s.reportCall(d.Call)
	default:
		s.answer.Add(d)
	}
}

// show passes on the next piece of the text. Text that was shown and turns out to
// be thinking is withdrawn: the step's text and thinking are shown from the start.
func (s *stream) show(p thinktag.Piece) {
	visible, thinking := p.Visible, p.Thinking
	s.text = append(s.text[:len(s.text)-p.Withdraw], visible...)
	if p.Withdraw > 0 {
		s.emit(hermes.Reset{Reason: thoughtAloud})
		visible, thinking = string(s.text), s.marked.String()+s.inline.String()+thinking
	}
	s.inline.WriteString(p.Thinking)
	if thinking != "" {
		s.emit(hermes.ReasoningDelta{Text: thinking})
	}
	if visible != "" {
		s.emit(hermes.TextDelta{Text: visible})
	}
}

// reportCall reports the size of the call being written, once for each KiB.
func (s *stream) reportCall(d *hermes.CallDelta) {
	if d.Name != "" {
		s.name, s.bytes = d.Name, 0
	}
	before := s.bytes / 1024
	s.bytes += len(d.Arguments)
	if d.Name != "" || s.bytes/1024 > before {
		s.emit(hermes.CallDeltaSeen{Name: s.name, Bytes: s.bytes})
	}
}

func (s *stream) message() hermes.Message {
	s.show(s.split.End())
	if inline := s.inline.String(); strings.TrimSpace(inline) != strings.TrimSpace(s.marked.String()) { // some services send it twice
		s.answer.Add(hermes.Delta{Reasoning: inline})
	}
	m := s.answer.Message()
	if len(s.text) > 0 {
		m.Parts = []hermes.Part{{Text: string(s.text)}}
	}
	if m.Model == "" {
		m.Model = s.Model.ID()
	}
	return m
}
