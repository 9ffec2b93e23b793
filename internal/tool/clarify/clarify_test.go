package clarify_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/tool/clarify"
)

// user answers questions in order.
type user struct {
	hermes.Host
	answers []hermes.Answer
	err     error
	depth   int
	asked   []hermes.Question
}

func (p *user) Session() hermes.SessionRef { return hermes.SessionRef{Depth: p.depth} }

func (p *user) Ask(_ context.Context, q hermes.Question) (hermes.Answer, error) {
	p.asked = append(p.asked, q)
	if p.err != nil {
		return hermes.Answer{}, p.err
	}
	a := p.answers[0]
	p.answers = p.answers[1:]
	return a, nil
}

func tool(t *testing.T) hermes.Tool {
	t.Helper()
	tools, err := clarify.New().Tools(t.Context())
	if err != nil || len(tools) != 1 {
		t.Fatal(tools, err)
	}
	return tools[0]
}

func ask(t *testing.T, p *user, arguments string) (string, error) {
	t.Helper()
	r, err := tool(t).Run(t.Context(), &hermes.Call{ID: "c1", Name: "clarify", Arguments: json.RawMessage(arguments), Host: p})
	return r.Text, err
}

func says(texts ...string) []hermes.Answer { return []hermes.Answer{{Texts: texts}} }

func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		answers  []hermes.Answer
		want     string
	}{
		{"free text is trimmed", `{"question":" Which port? "}`, says("  8080 \n"), `{"question":"Which port?","user_response":"8080"}`},
		{"a choice", `{"question":"Which?","choices":["a","b"]}`, says("b"), `{"question":"Which?","choices_offered":["a","b"],"user_response":"b"}`},
		{"the mark of a recommendation is stripped", `{"question":"Which?","choices":["uv (Recommended)","pip"]}`, says("uv (Recommended)"),
			`{"question":"Which?","choices_offered":["uv","pip"],"user_response":"uv"}`},
		{"a number", `{"question":"Which?","choices":["uv (recommended)","pip"]}`, says("1"), `{"question":"Which?","choices_offered":["uv","pip"],"user_response":"uv"}`},
		{"a number that is a choice itself", `{"question":"How many?","choices":["2","1"]}`, says("1"), `{"question":"How many?","choices_offered":["2","1"],"user_response":"1"}`},
		{"a number beyond the choices", `{"question":"How many?","choices":["one","two"]}`, says("7"), `{"question":"How many?","choices_offered":["one","two"],"user_response":"7"}`},
		{"something else", `{"question":"Which?","choices":["a","b"]}`, says("neither of them"), `{"question":"Which?","choices_offered":["a","b"],"user_response":"neither of them"}`},
		{"several", `{"question":"Which?","choices":["a","b","c"],"multi_select":true}`, says("a", "c"), `{"question":"Which?","choices_offered":["a","b","c"],"user_response":["a","c"]}`},
		{"several by number", `{"question":"Which?","choices":["a","b","c"],"multi_select":true}`, says("1, 3"), `{"question":"Which?","choices_offered":["a","b","c"],"user_response":["a","c"]}`},
		{"six choices", `{"question":"Which?","choices":["1","2","3","4","5","6"]}`, says("6"), `{"question":"Which?","choices_offered":["1","2","3","4","5","6"],"user_response":"6"}`},
		{"seven choices", `{"question":"Which?","choices":["a","b","c","d","e","f","g"]}`, says("7"), `{"question":"Which?","choices_offered":["a","b","c","d","e","f","g"],"user_response":"g"}`},
		{"numbers as choices", `{"question":"Port?","choices":[8080,3000.50,true]}`, says("2"), `{"question":"Port?","choices_offered":["8080","3000.50","true"],"user_response":"3000.50"}`},
		{"a number as a choice that is also a place", `{"question":"How many?","choices":[2,1]}`, says("1"), `{"question":"How many?","choices_offered":["2","1"],"user_response":"1"}`},
		{"objects as choices", `{"question":"Which?","choices":[{"label":"uv","description":"fast"},{"value":"pip"},{"name":"poetry","recommended":true}]}`, says("uv — fast"),
			`{"question":"Which?","choices_offered":["uv","pip","poetry"],"user_response":"uv"}`},
		{"an object by number", `{"question":"Which?","choices":[{"id":1,"text":"uv"},{"id":2,"text":"pip"}]}`, says("2"), `{"question":"Which?","choices_offered":["uv","pip"],"user_response":"pip"}`},
		{"an object by its label", `{"question":"Which?","choices":[{"title":"uv","detail":"fast"},"pip"]}`, says("uv"), `{"question":"Which?","choices_offered":["uv","pip"],"user_response":"uv"}`},
		{"an object with one field", `{"question":"Which?","choices":[{"uv":"the fast one"},{"pip":"the old one"}]}`, says("1"), `{"question":"Which?","choices_offered":["uv","pip"],"user_response":"uv"}`},
		{"choices in a text", `{"question":"Which?","choices":"[\"a\",\"b\"]"}`, says("2"), `{"question":"Which?","choices_offered":["a","b"],"user_response":"b"}`},
		{"null as a choice", `{"question":"Which?","choices":["a",null,{}]}`, says("a"), `{"question":"Which?","choices_offered":["a"],"user_response":"a"}`},
		{"a batch with objects", `{"questions":[{"question":"A?","choices":[{"label":"x"},7]}]}`, says("7"), `{"responses":[{"id":"q1","question":"A?","choices_offered":["x","7"],"user_response":"7"}]}`},
		{"an id that is a number", `{"questions":[{"id":3,"question":"A?"}]}`, says("x"), `{"responses":[{"id":"3","question":"A?","user_response":"x"}]}`},
		{"blank and equal choices go", `{"question":"Which?","choices":["a"," ","a "]}`, says("a"), `{"question":"Which?","choices_offered":["a"],"user_response":"a"}`},
		{"a batch", `{"questions":[{"id":"port","question":"Port?"},{"question":"Kind?","choices":["x","y"]}]}`, append(says("80"), says("2")...),
			`{"responses":[{"id":"port","question":"Port?","user_response":"80"},{"id":"q2","question":"Kind?","choices_offered":["x","y"],"user_response":"y"}]}`},
		{"no answer in time", `{"question":"Which?"}`, []hermes.Answer{{TimedOut: true}},
			`{"question":"Which?","user_response":"","timed_out":true,"note":"The user did not answer in time. Continue with your best judgement, and say what you assumed."}`},
		{"dismissed", `{"question":"Which?","choices":["a","b"]}`, []hermes.Answer{{Dismissed: true}},
			`{"question":"Which?","choices_offered":["a","b"],"user_response":"","dismissed":true,"note":"The user dismissed the question. Do not ask it again; continue with your best judgement, and say what you assumed."}`},
		{"one of a batch dismissed", `{"questions":[{"question":"A?"},{"question":"B?"}]}`, append([]hermes.Answer{{Dismissed: true}}, says("b")...),
			`{"responses":[{"id":"q1","question":"A?","user_response":"","dismissed":true},{"id":"q2","question":"B?","user_response":"b"}],"note":"The user dismissed the question. Do not ask it again; continue with your best judgement, and say what you assumed."}`},
		{"a batch ends where no answer comes", `{"questions":[{"question":"A?"},{"question":"B?"},{"question":"C?"}]}`, append(says("a"), hermes.Answer{TimedOut: true}),
			`{"responses":[{"id":"q1","question":"A?","user_response":"a"},{"id":"q2","question":"B?","user_response":""}],"timed_out":true,"note":"The user did not answer in time. Continue with your best judgement, and say what you assumed."}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &user{answers: tt.answers}
			got, err := ask(t, p, tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if len(p.answers) > 0 {
				t.Error("not everything was asked")
			}
		})
	}
}

func TestInvalidQuestionsAreRefused(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{}`:                "question is empty",
		`{"question":"  "}`: "question is empty",
		`{"questions":[{"choices":["a"],"question":""}]}`:                                                                      "question is empty",
		`{"question":"Q?","choices":[1,2,3,4,5,6,7,8,9,10,11,12,13]}`:                                                          "too many",
		`{"question":"Q?","choices":[["a","b"]]}`:                                                                              "do not match the schema",
		`{"question":"Q?","choices":[{"a":"1","b":"2"}]}`:                                                                      "label",
		`{"question":"Q?","questions":[{"question":"1"},{"question":"2"},{"question":"3"},{"question":"4"},{"question":"5"}]}`: "6 questions are too many",
		`{"question":"` + strings.Repeat("x", 5000) + `"}`:                                                                     "in a few sentences",
	} {
		p := &user{}
		if _, err := ask(t, p, in); err == nil || !strings.Contains(err.Error(), want) || len(p.asked) > 0 {
			t.Errorf("%.60s: got %v, asked %d", in, err, len(p.asked))
		}
	}
}

func TestWithoutAUserItIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := ask(t, &user{err: errors.New("no user attends")}, `{"question":"Q?"}`); err == nil || !strings.Contains(err.Error(), "best judgement") {
		t.Errorf("got %v", err)
	}
	if _, err := ask(t, &user{err: hermes.ErrInterrupted}, `{"question":"Q?"}`); !errors.Is(err, hermes.ErrInterrupted) {
		t.Errorf("an interrupt became %v", err)
	}
	if _, err := ask(t, &user{depth: 1}, `{"question":"Q?"}`); err == nil || !strings.Contains(err.Error(), "subagent") {
		t.Errorf("a subagent asked: %v", err)
	}
}

func TestNothingRunsBesideAQuestion(t *testing.T) {
	t.Parallel()
	if m := tool(t).Spec().Mode; m != hermes.ModeExclusive {
		t.Errorf("mode %v", m)
	}
}

func TestTheFrontendSeesWhatIsAsked(t *testing.T) {
	t.Parallel()
	p := &user{answers: says("a")}
	if _, err := ask(t, p, `{"question":"Q?","choices":["a (recommended)","b"],"multi_select":true}`); err != nil {
		t.Fatal(err)
	}
	want := []hermes.Question{{CallID: "c1", Text: "Q?", Choices: []string{"a (recommended)", "b"}, Multiple: true}}
	if diff := cmp.Diff(want, p.asked); diff != "" {
		t.Error(diff)
	}
}

func TestTheFrontendSeesTheNumberInABatch(t *testing.T) {
	t.Parallel()
	p := &user{answers: append(says("a"), says("b")...)}
	if _, err := ask(t, p, `{"questions":[{"question":"A?"},{"question":"B?"}]}`); err != nil {
		t.Fatal(err)
	}
	want := []hermes.Question{{CallID: "c1", Text: "A?", Number: 1, Of: 2}, {CallID: "c1", Text: "B?", Number: 2, Of: 2}}
	if diff := cmp.Diff(want, p.asked); diff != "" {
		t.Error(diff)
	}
}

func TestAQuestionIsTakenUpAgainAfterACrash(t *testing.T) {
	t.Parallel()
	if e := tool(t).Spec().Effect; e != hermes.EffectAsk {
		t.Errorf("effect %v", e)
	}
}
