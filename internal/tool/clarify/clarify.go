// Package clarify is the toolset with which the model asks the person: one
// question with or without choices, or a few in a row.
//
// How a question looks is the matter of the face behind Host.Ask; this package
// checks what is asked and makes sense of what comes back. Nothing runs beside
// a question. The same arguments always ask the same questions in the same
// order, so that a call can be taken up again where its process ended. Start at
// New; question.go has the rules.
package clarify

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"hermes"
)

const name = "clarify"

// maxQuestions bounds a batch.
const maxQuestions = 5

//go:embed clarify.md
var doc string

// What the model reads when no answer came.
const (
	noAnswer     = "The person did not answer in time. Go on with your best judgement, and say what you assumed."
	dismissed    = "The person would rather not answer. Do not ask it again; go on with your best judgement, and say what you assumed."
	noAnswerText = "nobody can be asked here (%v); go on with your best judgement, and say what you assumed"
)

// Toolset is the tool clarify.
type Toolset struct{}

var _ hermes.Toolset = Toolset{}

// New makes the toolset.
func New() Toolset { return Toolset{} }

// Name is "clarify".
func (Toolset) Name() string { return name }

// Available is always the empty text: who cannot be asked says so when asked.
func (Toolset) Available(context.Context) string { return "" }

// Tools returns the one tool.
func (Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{hermes.NewTool(hermes.Spec{
		Name: name, Description: strings.TrimSpace(doc), Mode: hermes.ModeExclusive, Effect: hermes.EffectAsk,
		Trusted: true,
	}, run)}, nil
}

type args struct {
	Question    string     `json:"question,omitempty"`
	Choices     []string   `json:"choices,omitempty"`
	MultiSelect bool       `json:"multi_select,omitempty"`
	Questions   []question `json:"questions,omitempty"`
}

// response is what came of one question.
type response struct {
	ID       string   `json:"id,omitempty"`
	Question string   `json:"question"`
	Choices  []string `json:"choices_offered,omitempty"`
	// Response is a text, or a list of texts where several were allowed.
	Response  any  `json:"user_response"`
	Dismissed bool `json:"dismissed,omitempty"`
}

// report is the result of a single question or of several.
type report struct {
	*response
	Responses []response `json:"responses,omitempty"`
	TimedOut  bool       `json:"timed_out,omitempty"`
	Note      string     `json:"note,omitempty"`
}

func run(ctx context.Context, c *hermes.Call, in args) (hermes.Result, error) {
	if c.Host.Session().Depth > 0 {
		return hermes.Result{}, errors.New("a subagent cannot ask the person; decide, and say in your report what you assumed")
	}
	batch := len(in.Questions) > 0
	questions := in.Questions
	if strings.TrimSpace(in.Question) != "" || !batch {
		questions = append([]question{{Question: in.Question, Choices: in.Choices, MultiSelect: in.MultiSelect}}, questions...)
	}
	if len(questions) > maxQuestions {
		return hermes.Result{}, fmt.Errorf("%d questions are too many at once; ask the %d that matter most", len(questions), maxQuestions)
	}
	for i := range questions {
		if err := questions[i].check(); err != nil {
			return hermes.Result{}, err
		}
	}
	var out report
	for i, q := range questions {
		a, err := c.Host.Ask(ctx, q.put(c.ID, i+1, len(questions)))
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, hermes.ErrInterrupted) {
				return hermes.Result{}, err
			}
			return hermes.Result{}, fmt.Errorf(noAnswerText, err)
		}
		texts := q.read(a.Texts)
		r := response{ID: q.ID, Question: q.Question, Choices: q.offered(), Response: q.answer(texts), Dismissed: a.Dismissed}
		if batch && r.ID == "" {
			r.ID = "q" + strconv.Itoa(i+1)
		}
		out.Responses = append(out.Responses, r)
		switch {
		case a.Dismissed:
			out.Note = dismissed
		case a.TimedOut || len(texts) == 0:
			out.TimedOut, out.Note = true, noAnswer
		}
		if out.TimedOut {
			break // who did not answer this will not answer the next
		}
	}
	if !batch {
		out.response, out.Responses = &out.Responses[0], nil
	}
	return hermes.JSONResult(out)
}
