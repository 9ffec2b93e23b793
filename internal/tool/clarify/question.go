package clarify

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hermes"
)

// maxChoices is how many choices are accepted; the description says four.
const maxChoices = 6

// Limits of what is shown, in bytes.
const (
	maxText   = 4000
	maxChoice = 400
)

type question struct {
	ID          string   `json:"id,omitempty"`
	Question    string   `json:"question"`
	Choices     []string `json:"choices,omitempty"`
	MultiSelect bool     `json:"multi_select,omitempty"`
}

// check cleans up a question, or returns what is wrong with it.
func (q *question) check() error {
	q.Question = strings.TrimSpace(q.Question)
	if q.Question == "" {
		return errors.New("question is empty; say in one or two sentences what you want to know")
	}
	if len(q.Question) > maxText {
		return fmt.Errorf("the question has %d characters, which is too long; ask in a few sentences, and show long text before you ask", len(q.Question))
	}
	var choices []string
	for _, c := range q.Choices {
		c = strings.TrimSpace(c)
		if len(c) > maxChoice {
			return fmt.Errorf("a choice of %d characters is too long; use a few words and explain it in the question", len(c))
		}
		if c != "" && !slices.ContainsFunc(choices, func(have string) bool { return plain(have) == plain(c) }) {
			choices = append(choices, c)
		}
	}
	if len(choices) > maxChoices {
		return fmt.Errorf("%d choices are too many; offer the 4 most likely, since the user can always write another answer", len(choices))
	}
	q.Choices = choices
	q.MultiSelect = q.MultiSelect && len(choices) > 0
	return nil
}

// put returns the question for the user, as question number of of.
func (q *question) put(call string, number, of int) hermes.Question {
	out := hermes.Question{CallID: call, Text: q.Question, Choices: q.Choices, Multiple: q.MultiSelect}
	if of > 1 {
		out.Number, out.Of = number, of
	}
	return out
}

// offered returns the choices without the recommendation mark.
func (q *question) offered() []string {
	var out []string
	for _, c := range q.Choices {
		out = append(out, plain(c))
	}
	return out
}

// plain returns a choice without the recommendation mark.
func plain(choice string) string {
	choice = strings.TrimSpace(choice)
	for _, mark := range []string{"(recommended)", "[recommended]", "- recommended", "— recommended"} {
		if at := len(choice) - len(mark); at > 0 && strings.EqualFold(choice[at:], mark) {
			return strings.TrimSpace(choice[:at])
		}
	}
	return choice
}

// read interprets an answer: choices as they were shown, their numbers, or free
// text. Blank texts are ignored.
func (q *question) read(texts []string) []string {
	var out []string
	for _, t := range texts {
		t = strings.TrimSpace(t)
		switch chosen := q.numbered(t); {
		case t == "":
		case slices.Contains(q.Choices, t):
			out = append(out, plain(t))
		case len(chosen) > 0:
			out = append(out, chosen...)
		default:
			out = append(out, t)
		}
	}
	return out
}

// numbered returns the choices that a text names by number: one, or several if
// several are allowed. It returns nil if the text is not a list of numbers.
func (q *question) numbered(text string) []string {
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == ';' || r == '.' })
	if len(fields) > 1 && !q.MultiSelect {
		return nil
	}
	var out []string
	for _, f := range fields {
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 || n > len(q.Choices) {
			return nil
		}
		out = append(out, plain(q.Choices[n-1]))
	}
	return out
}

// answer returns the answer in the form that the model gets.
func (q *question) answer(texts []string) any {
	if q.MultiSelect {
		return append([]string{}, texts...)
	}
	return strings.Join(texts, "\n")
}
