package chain

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strings"
	"unicode"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/thinktag"
)

// maxAnswer bounds the text, reasoning and arguments of one answer, in bytes.
// The longest real outputs are a tenth of it.
const maxAnswer = 8 << 20

// Examine is the layer that turns useless answers into failures, although the
// protocol calls them complete: empty ones, reasoning without text, tokens of a
// chat template, and absurdly long ones.
func Examine(next hermes.Model) hermes.Model { return &examining{next} }

type examining struct{ hermes.Model }

func (m *examining) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		var s substance
		for d, err := range m.Model.Stream(ctx, r) {
			if err == nil {
				err = s.take(d)
			}
			if err != nil {
				yield(hermes.Delta{}, m.attribute(err))
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// attribute adds provider and model to a failure that was found here.
func (m *examining) attribute(err error) error {
	if e, ok := err.(*hermes.ModelError); ok && e.Provider == "" {
		e.Provider, e.Model, _ = strings.Cut(m.ID(), ":")
	}
	return err
}

// substance tracks whether an answer has any content.
type substance struct {
	size    int
	called  bool // a call came
	thought bool // reasoning came
	split   thinktag.Splitter
	text    []byte // without thinking
	said    bool   // text is more than template tokens
}

// take looks at the next delta. It fails if the answer is useless.
func (s *substance) take(d hermes.Delta) error {
	switch {
	case d.Reset != "":
		*s = substance{}
	case d.Text != "":
		s.size += len(d.Text)
		s.piece(s.split.Feed(d.Text))
	case d.Reasoning != "":
		s.size += len(d.Reasoning)
		s.thought = true
	case d.Call != nil:
		s.size += len(d.Call.Arguments)
		s.called = true
	case d.Finish != "":
		s.piece(s.split.End())
		if !s.called && !s.said && !worded(string(s.text)) {
			return s.nothing(d.Finish)
		}
	}
	if s.size > maxAnswer {
		return &hermes.ModelError{
			Class: hermes.ClassServerError, Message: fmt.Sprintf("the answer was longer than %d MB and was cut off", maxAnswer>>20),
			Retry: true, Fallback: true, Err: fault.ErrGarbage,
		}
	}
	return nil
}

// piece checks whether real text has come. Text that begins like a token of a
// template is in doubt until the answer ends.
func (s *substance) piece(p thinktag.Piece) {
	s.text = append(s.text[:len(s.text)-p.Withdraw], p.Visible...)
	s.thought = s.thought || strings.TrimSpace(p.Thinking) != ""
	if s.said && p.Withdraw == 0 {
		return
	}
	head := bytes.TrimLeftFunc(s.text, blank)
	s.said = len(head) > 0 && head[0] != '<' && head[0] != '['
}

func (s *substance) nothing(f hermes.Finish) error {
	e := &hermes.ModelError{Class: hermes.ClassServerError, Message: "the model returned an empty answer", Retry: true, Fallback: true, Err: fault.ErrEmpty}
	switch {
	case f == hermes.FinishFilter:
		e.Class, e.Retry, e.Message = hermes.ClassContentPolicy, false, "the service's content filter blocked the answer"
	case f == hermes.FinishLength:
		e.Retry, e.Err = false, errUsedUp
		e.Message = "the model reached its output limit before it answered; raise model.max_tokens, or let it think less with /reasoning low"
	case s.thought:
		e.Retry, e.Err = false, errOnlyThought
		e.Message = "the model only sent its thinking and no answer"
	case len(bytes.TrimSpace(s.text)) > 0:
		e.Message = "the model returned only template tokens and no text"
	}
	return e
}

// worded reports whether a text holds more than template tokens.
func worded(text string) bool {
	for text = strings.TrimLeftFunc(text, blank); text != ""; text = strings.TrimLeftFunc(text, blank) {
		rest, ok := pastMark(text)
		if !ok {
			return true
		}
		text = rest
	}
	return false
}

// pastMark skips a token of a chat template, such as <|im_end|> or [/INST].
func pastMark(text string) (string, bool) {
	for _, m := range []struct{ open, close string }{{"<|", "|>"}, {"[/INST", "]"}, {"[INST", "]"}, {"</s", ">"}, {"<s", ">"}, {"<unk", ">"}, {"<pad", ">"}, {"<eos", ">"}, {"<end_of_turn", ">"}} {
		if !strings.HasPrefix(text, m.open) {
			continue
		}
		if i := strings.Index(text, m.close); i >= 0 && i < 64 {
			return text[i+len(m.close):], true
		}
	}
	return text, false
}

func blank(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\uFFFD' || r == '\uFEFF' || r == '\u200B'
}
