// Package clarify is the toolset with which the model asks the user: one question
// with or without choices, or a few in a row.
//
// The package checks the questions and interprets the answers. How a question
// looks is up to the frontend behind Host.Ask, which the package does not know.
// No other call runs at the same time as a question. The same arguments always
// ask the same questions in the same order, so that a call can be resumed after
// its process ended. Start reading at [New]; question.go has the rules.
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

// maxQuestions limits the questions of one call.
const maxQuestions = 5

//go:embed clarify.md
var doc string

// What the model reads if there is no answer.
const (
	noAnswer     = "The user did not answer in time. Continue with your best judgement, and say what you assumed."
	dismissed    = "The user dismissed the question. Do not ask it again; continue with your best judgement, and say what you assumed."
	noAnswerText = "the user cannot be asked (%v); continue with your best judgement, and say what you assumed"
)

// Toolset is the tool clarify.
type Toolset struct{}

var _ hermes.Toolset = Toolset{}

// New makes the toolset.
func New() Toolset { return Toolset{} }

// Name is "clarify".
func (Toolset) Name() string { return name }

// Available always returns "": whether the user can be asked shows when asking.
func (Toolset) Available(context.Context) string { return "" }

// Tools returns the one tool.
func (Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{hermes.NewTool(hermes.Spec{
		Name: name, Description: strings.TrimSpace(doc), Mode: hermes.ModeExclusive, Effect: hermes.EffectAsk,
		Trusted: true, Schema: hermes.SchemaOf[offer](),
	}, run)}, nil
}

// offer is the schema of the arguments: choices are texts.
type offer struct {
	Question    string   `json:"question,omitempty"`
	Choices     []string `json:"choices,omitempty"`
	MultiSelect bool     `json:"multi_select,omitempty"`
	Questions   []struct {
		ID          string   `json:"id,omitempty"`
		Question    string   `json:"question"`
		Choices     []string `json:"choices,omitempty"`
		MultiSelect bool     `json:"multi_select,omitempty"`
	} `json:"questions,omitempty"`
}

// args is what models send: choices may be numbers or objects, too.
type args struct {
	Question    string     `json:"question"`
	Choices     choices    `json:"choices"`
	MultiSelect bool       `json:"multi_select"`
	Questions   []question `json:"questions"`
}

// response is the outcome of one question.
type response struct {
	ID       string   `json:"id,omitempty"`
	Question string   `json:"question"`
	Choices  []string `json:"choices_offered,omitempty"`
	// Response is a text, or a list of texts if several were allowed.
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
		return hermes.Result{}, errors.New("a subagent cannot ask the user; decide, and say in your report what you assumed")
	}
	batch := len(in.Questions) > 0
	questions := in.Questions
	if strings.TrimSpace(in.Question) != "" || !batch {
		questions = append([]question{{Question: in.Question, Choices: in.Choices, MultiSelect: in.MultiSelect}}, questions...)
	}
	if len(questions) > maxQuestions {
		return hermes.Result{}, fmt.Errorf("%d questions are too many at once; ask the %d most important", len(questions), maxQuestions)
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
		r := response{ID: q.ID.answer, Question: q.Question, Choices: q.offered(), Response: q.answer(texts), Dismissed: a.Dismissed}
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
			break // the user is away and will not answer the next either
		}
	}
	if !batch {
		out.response, out.Responses = &out.Responses[0], nil
	}
	return hermes.JSONResult(out)
}
