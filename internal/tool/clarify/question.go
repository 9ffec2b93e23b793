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
const maxChoices = 12

// Limits of what is shown, in bytes.
const (
	maxText   = 4000
	maxChoice = 400
)

type question struct {
	ID          choice  `json:"id"` // a text or a number
	Question    string  `json:"question"`
	Choices     choices `json:"choices"`
	MultiSelect bool    `json:"multi_select"`
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
	var kept choices
	for _, c := range q.Choices {
		if len(c.shown) > maxChoice {
			return fmt.Errorf("a choice of %d characters is too long; use a few words and explain it in the question", len(c.shown))
		}
		if c.answer != "" && !slices.ContainsFunc(kept, func(have choice) bool { return have.answer == c.answer }) {
			kept = append(kept, c)
		}
	}
	if len(kept) > maxChoices {
		return fmt.Errorf("%d choices are too many; offer the 4 most likely, since the user can always write another answer", len(kept))
	}
	q.Choices = kept
	q.MultiSelect = q.MultiSelect && len(kept) > 0
	return nil
}

// put returns the question for the user, as question number of of.
func (q *question) put(call string, number, of int) hermes.Question {
	out := hermes.Question{CallID: call, Text: q.Question, Multiple: q.MultiSelect}
	for _, c := range q.Choices {
		out.Choices = append(out.Choices, c.shown)
	}
	if of > 1 {
		out.Number, out.Of = number, of
	}
	return out
}

// offered returns the choices as they are answered.
func (q *question) offered() []string {
	var out []string
	for _, c := range q.Choices {
		out = append(out, c.answer)
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

// read interprets an answer: choices as they were shown or are answered, their
// numbers, or free text. Blank texts are ignored.
func (q *question) read(texts []string) []string {
	var out []string
	for _, t := range texts {
		t = strings.TrimSpace(t)
		at := slices.IndexFunc(q.Choices, func(c choice) bool { return t == c.shown || t == c.answer })
		switch chosen := q.numbered(t); {
		case t == "":
		case at >= 0:
			out = append(out, q.Choices[at].answer)
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
		out = append(out, q.Choices[n-1].answer)
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
