package base_test

import (
	"bufio"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest/modelsuite"
	"hermes/internal/fault"
	"hermes/internal/transport/base"
)

func TestPairs(t *testing.T) {
	t.Parallel()
	user, said := hermes.UserText("u"), hermes.Message{Role: hermes.RoleAssistant}
	asks := func(ids ...string) hermes.Message {
		m := hermes.Message{Role: hermes.RoleAssistant}
		for _, id := range ids {
			m.Calls = append(m.Calls, hermes.ToolCall{ID: id})
		}
		return m
	}
	answers := func(id string) hermes.Message { return hermes.Message{Role: hermes.RoleTool, CallID: id} }
	tests := []struct {
		name string
		in   []hermes.Message
		want string // a letter for each message; calls follow as + and -
	}{
		{"nothing", nil, ""},
		{"all answered", []hermes.Message{user, asks("a", "b"), answers("b"), answers("a")}, "u m++ r r"},
		{"one open", []hermes.Message{user, asks("a", "b"), answers("b"), user}, "u m-+ r u"},
		{"words between", []hermes.Message{asks("a"), user, answers("a")}, "m+ u r"},
		{"too late", []hermes.Message{asks("a"), said, answers("a")}, "m- m x"},
		{"never asked", []hermes.Message{answers("a"), user, answers("a")}, "x u x"},
		{"twice", []hermes.Message{asks("a"), answers("a"), answers("a")}, "m+ r x"},
		{"the same id twice", []hermes.Message{asks("a", "a"), answers("a"), answers("a")}, "m++ r r"},
		{"the same id later", []hermes.Message{asks("a"), answers("a"), asks("a"), answers("a")}, "m+ r m+ r"},
	}
	for _, tt := range tests {
		kept := base.PairsOf(tt.in)
		var got []string
		for i, m := range tt.in {
			switch m.Role {
			case hermes.RoleUser:
				got = append(got, "u")
			case hermes.RoleTool:
				got = append(got, map[bool]string{true: "r", false: "x"}[kept.Results[i]])
			case hermes.RoleAssistant:
				word := "m"
				for _, sent := range kept.Calls[i] {
					word += map[bool]string{true: "+", false: "-"}[sent]
				}
				got = append(got, word)
			}
		}
		if spelled := strings.Join(got, " "); spelled != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, spelled, tt.want)
		}
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 65)
	var ids base.IDs
	for _, tt := range []struct{ in, want string }{
		{"toolu_01A-b", "toolu_01A-b"},
		{"call_1|fc_1", "call_1"},
		{"call_1|fc_2", base.HashID("call_1|fc_2")},
		{"call_1|fc_1", "call_1"},
		{"functions.read:0", "functions_read_0"},
		{"", base.HashID("")},
		{"|", base.HashID("|")},
		{long, base.HashID(long)},
	} {
		if got := ids.Of(tt.in); got != tt.want {
			t.Errorf("%q is %q, want %q", tt.in, got, tt.want)
		}
	}
	fresh := base.FreshAfter([]hermes.Message{{Calls: []hermes.ToolCall{{ID: "a"}}}})
	first, second, third := fresh.ID("a"), fresh.ID("b"), fresh.ID("b")
	if first == "a" || second != "b" || third == "b" || first == "" || third == "" {
		t.Errorf("%q %q %q", first, second, third)
	}
}

func TestObject(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "{}", "null": "{}", "[]": "{}", `{"a":`: "{}", `"x"`: "{}", `{"a": 1}`: `{"a": 1}`, " {}": " {}",
	} {
		if got := string(base.Object(in)); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestFirst(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]byte{"": 0, " \r\n\t{": '{', "<html>": '<', "data: x": 'd', strings.Repeat(" ", 70) + "{": 0} {
		if got := base.First(bufio.NewReader(strings.NewReader(in))); got != want {
			t.Errorf("%q begins with %q, want %q", in, got, want)
		}
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	refused, broken := &fault.Failure{Status: 500}, errors.New("reset")
	for _, tt := range []struct {
		name            string
		err             error
		complete, begun bool
		want            error
	}{
		{"all said", nil, true, true, nil},
		{"all said, then the connection broke", broken, true, true, nil},
		{"refused at the end", refused, true, true, refused},
		{"broken", broken, false, true, broken},
		{"cut", nil, false, true, fault.ErrCut},
		{"nothing", nil, false, false, fault.ErrEmpty},
	} {
		if got := base.Close(tt.err, tt.complete, tt.begun); !errors.Is(got, tt.want) || (got == nil) != (tt.want == nil) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestTheKeyIsHidden(t *testing.T) {
	t.Parallel()
	rt := &modelsuite.Recorded{T: t, Raw: []byte("x")}
	c := base.Config{ID: "p:m", Provider: "p", Model: "m", Key: "sk-secret-123", Client: &http.Client{Transport: rt}, Now: func() time.Time { return time.Unix(0, 0) }}.Ready()
	said := &fault.Failure{Status: 401, Body: []byte(`{"error":{"message":"bad key sk-secret-123"}}`)}
	var failed error
	for _, err := range c.Stream(t.Context(), &hermes.Request{}, func(base.Yield) error { return said }) {
		failed = err
	}
	if e, ok := errors.AsType[*hermes.ModelError](failed); !ok || e.Class != hermes.ClassAuth || strings.Contains(failed.Error(), "secret") {
		t.Errorf("%v", failed)
	}
}

// TestRedirectsToAnotherServerAreRefused uses a client that would follow them.
func TestRedirectsToAnotherServerAreRefused(t *testing.T) {
	t.Parallel()
	away := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other server got %q", r.Header.Get("X-Api-Key"))
	}))
	t.Cleanup(away.Close)
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, away.URL+r.URL.Path, http.StatusPermanentRedirect)
	}))
	t.Cleanup(home.Close)
	for _, client := range []*http.Client{nil, {}, {CheckRedirect: func(*http.Request, []*http.Request) error { return nil }}} {
		c := base.Config{Provider: "p", Model: "m", BaseURL: home.URL + "/v1", Setting: "the setting", Client: client}.Ready()
		var failed error
		for _, err := range c.Stream(t.Context(), &hermes.Request{}, func(base.Yield) error {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, home.URL+"/v1/chat", strings.NewReader("{}"))
			if err != nil {
				return err
			}
			req.Header.Set("X-Api-Key", "canary")
			_, err = c.Send(req)
			return err
		}) {
			failed = err
		}
		e, ok := errors.AsType[*hermes.ModelError](failed)
		if !ok || e.Class != hermes.ClassFormat || e.Retry || e.Status != http.StatusPermanentRedirect || !strings.Contains(failed.Error(), "check the setting") {
			t.Errorf("%v", failed)
		}
	}
}

func TestToolListsAreEncodedOnce(t *testing.T) {
	t.Parallel()
	var tools base.Tools
	n := 0
	encode := func(list []hermes.Spec) ([]byte, error) { n++; return []byte(list[0].Name), nil }
	var got []string
	for _, name := range []string{"a", "a", "b", "a"} {
		out, err := tools.Encode([]hermes.Spec{{Name: name}}, encode)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(out))
	}
	if diff := cmp.Diff(got, []string{"a", "a", "b", "a"}); diff != "" || n != 3 {
		t.Errorf("%d times: %s", n, diff)
	}
}
