package cmd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/chatserver"
	"hermes/internal/protocol"
)

// resultObject is what --json prints, as a reader of docs/ci.md would declare it.
type resultObject struct {
	Type       string          `json:"type"`
	Version    int             `json:"version"`
	Outcome    string          `json:"outcome"`
	Status     int             `json:"status"`
	Text       string          `json:"text"`
	Structured json.RawMessage `json:"structured"`
	Session    string          `json:"session"`
	Model      string          `json:"model"`
	Steps      int             `json:"steps"`
	Usage      struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
		Total  int64 `json:"total_tokens"`
		Calls  int64 `json:"api_calls"`
	} `json:"usage"`
	Cost     *float64 `json:"cost_usd"`
	Duration int64    `json:"duration_ms"`
	Denied   []struct {
		Tool, Call, Subject, Reason, Outcome string
	} `json:"denied"`
	Failure *struct{ Class, Text, Hint string } `json:"failure"`
}

// readResult reads the one object that out must be.
func readResult(t *testing.T, out string) resultObject {
	t.Helper()
	var r resultObject
	line, rest, _ := strings.Cut(out, "\n")
	if err := json.Unmarshal([]byte(line), &r); err != nil || rest != "" || r.Type != "result" || r.Version != 1 || r.Denied == nil {
		t.Fatalf("%v, not one result object: %q", err, out)
	}
	return r
}

// refusing is the environment of a model server that refuses every request.
func refusing(t *testing.T, status int, message string) []string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"error":{"message":"` + message + `"}}`))
	}))
	t.Cleanup(s.Close)
	return []string{"OPENAI_BASE_URL=" + s.URL + "/v1", "OPENAI_API_KEY=k"}
}

func answering(t *testing.T, text string) []string {
	t.Helper()
	return serve(t, func(*chatserver.Request) (chatserver.Answer, error) { return chatserver.Answer{Text: text}, nil })
}

// TestResultAgreesWithTheStatus has a run of each kind of end.
func TestResultAgreesWithTheStatus(t *testing.T) {
	t.Parallel()
	working := func(t *testing.T) []string {
		return serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
			if len(r.Tools) == 0 || strings.Contains(r.Messages[len(r.Messages)-1].Text(), "limit") {
				return chatserver.Answer{Text: "As far as I came."}, nil
			}
			return call("terminal", map[string]string{"command": "echo hi"}), nil
		})
	}
	for name, tt := range map[string]struct {
		env      func(*testing.T) []string
		settings string
		args     []string
		status   int
		outcome  string
		class    string
		text     string // in the answer or in the text of the failure
	}{
		"done":               {env: func(t *testing.T) []string { return answering(t, "All good.") }, outcome: "done", text: "All good."},
		"no model":           {status: 2, outcome: "failed", class: "no_model", text: "no model is configured"},
		"an unknown session": {env: func(t *testing.T) []string { return answering(t, "x") }, args: []string{"--resume", "nope"}, status: 1, outcome: "failed", class: "not_found", text: `no session "nope"`},
		"a wrong key":        {env: func(t *testing.T) []string { return refusing(t, 401, "bad key") }, status: 1, outcome: "failed", class: "auth", text: "bad key"},
		"an unknown model":   {env: func(t *testing.T) []string { return refusing(t, 404, "no such model") }, status: 1, outcome: "failed", class: "model_not_found"},
		"a step limit":       {env: working, args: []string{"--max-turns", "1"}, status: 1, outcome: "budget", text: "As far as I came."},
		"a cap":              {env: working, settings: "spend: {turn: {tokens: 10}}\n", status: 1, outcome: "budget", text: "the spend cap for this turn"},
		"a money cap": {env: working, settings: "spend: {prices: {played: {input: 100, output: 100}}}\n", args: []string{"--max-usd", "0.01"},
			status: 1, outcome: "budget", text: "the budget of this session is reached"},
		"unclear spend settings": {env: working, settings: "spend: 5\n", status: 2, outcome: "failed", text: "spend must be a section"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newUser(t)
			if tt.env != nil {
				p.env = append(p.env, tt.env(t)...)
				tt.args = append(tt.args, "-m", "played")
			}
			p.configure(tt.settings)
			for _, form := range [][]string{{"-z", "go", "--json"}, {"chat", "-q", "go", "--oneshot", "--json"}, {"-z", "go", "--json-stream"}} {
				usage := filepath.Join(p.dir, "usage.json")
				args := append(form, tt.args...)
				if form[0] == "-z" {
					args = append(args, "--usage-file", usage)
				}
				out, errs, status := p.run(args...)
				if lines := strings.Split(strings.TrimSpace(out), "\n"); form[len(form)-1] == "--json-stream" {
					out = lines[len(lines)-1] + "\n"
				}
				r := readResult(t, out)
				failed := r.Failure != nil
				if status != tt.status || r.Status != status || r.Outcome != tt.outcome || failed != (tt.outcome == "failed") {
					t.Errorf("%v: status %d, want %d; %s\n%s", form, status, tt.status, out, errs)
				}
				said := r.Text
				if failed {
					said = r.Failure.Text
					if tt.class != "" && r.Failure.Class != tt.class || !strings.HasPrefix(errs, "hermes: ") {
						t.Errorf("%v: class %q, want %q; standard error %q", form, r.Failure.Class, tt.class, errs)
					}
				}
				if !strings.Contains(said, tt.text) {
					t.Errorf("%v: says %q, want %q", form, said, tt.text)
				}
				if form[0] == "-z" {
					compareUsage(t, usage, r)
				}
			}
		})
	}
}

// compareUsage compares a result with what --usage-file wrote of the same run.
func compareUsage(t *testing.T, path string, r resultObject) {
	t.Helper()
	var u struct {
		Cost          *float64 `json:"estimated_cost_usd"`
		Total         int64    `json:"total_tokens"`
		Calls         int64    `json:"api_calls"`
		Session       string   `json:"session_id"`
		Completed     bool
		ModelProvider string `json:"provider"`
		Model         string
	}
	raw, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(raw, &u) != nil {
		t.Fatalf("%s, %v", raw, err)
	}
	if u.Total != r.Usage.Total || u.Calls != r.Usage.Calls || u.Session != r.Session || u.Completed != (r.Outcome == "done") || cmp.Diff(u.Cost, r.Cost) != "" {
		t.Errorf("the usage file has %s, the result %+v", raw, r)
	}
	if r.Model != "" && u.ModelProvider+":"+u.Model != r.Model {
		t.Errorf("the model is %q, in the usage file %s:%s", r.Model, u.ModelProvider, u.Model)
	}
}

// TestWrongCommandLinesHaveNoResult: what was asked for is unclear, so only standard error says so.
func TestWrongCommandLinesHaveNoResult(t *testing.T) {
	t.Parallel()
	asked := 0
	p := newUser(t, serve(t, func(*chatserver.Request) (chatserver.Answer, error) {
		asked++
		return chatserver.Answer{Text: "x"}, nil
	})...)
	file := func(name, text string) string {
		path := filepath.Join(p.dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, tt := range map[string]struct {
		args []string
		says string
	}{
		"both forms":          {[]string{"--json", "--json-stream"}, "not both"},
		"no prompt":           {[]string{"-z", "", "--json"}, "nothing to answer"},
		"no image":            {[]string{"--image", "nope.png", "--json"}, "nope.png"},
		"no schema":           {[]string{"--schema", "nope.json"}, "nope.json"},
		"a schema that is no": {[]string{"--schema", file("a.json", `{"type":"nope"}`), "--json"}, `the type "nope" at # does not exist`},
		"a broken schema":     {[]string{"--schema", file("b.json", `{`)}, "not valid JSON"},
		"a circular schema":   {[]string{"--schema", file("c.json", `{"$ref":"#"}`)}, "refers to itself"},
		"a negative cap":      {[]string{"--max-usd", "-1"}, "--max-usd -1"},
		"a cap of zero":       {[]string{"--max-usd", "0"}, "drop the option for no cap"},
		"no number":           {[]string{"--max-usd", "NaN"}, "--max-usd NaN"},
		"without end":         {[]string{"--max-usd", "Inf"}, "--max-usd +Inf"},
		"too little":          {[]string{"--max-usd", "1e-9"}, "the smallest cap"},
		"no amount":           {[]string{"--max-usd", "x"}, "--max-usd"},
		"an unknown tool":     {[]string{"--allow-tools", "terminal: go test*,nope: x"}, `only the calls of terminal`},
		"another one":         {[]string{"--allow-tools", "nope"}, `there is no tool "nope"; the tools are `},
		"a toolset":           {[]string{"--allow-tools", "file"}, `there is no tool "file"`},
		"an empty rule":       {[]string{"--allow-tools", "terminal,"}, "names no tool"},
		"a rule of two":       {[]string{"--allow-tools", "terminal: a; b"}, "one simple command"},
		"rules and yolo":      {[]string{"--allow-tools", "terminal", "--yolo"}, "use one of them"},
	} {
		args := append([]string{"-z", "go", "-m", "played", "--json"}, tt.args...)
		if name == "no prompt" || name == "both forms" {
			args = append([]string{"-z", "go", "-m", "played"}, tt.args...)
		}
		out, errs, status := p.run(args...)
		if status != 2 || out != "" || !strings.Contains(errs, tt.says) {
			t.Errorf("%s: status %d, out %q, errs %q", name, status, out, errs)
		}
	}
	if asked != 0 {
		t.Errorf("%d requests were sent", asked)
	}
}

func TestInterruptedRunHasAResult(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"--json", "--json-stream"} {
		asked, hold := make(chan struct{}, 1), make(chan struct{})
		p := newUser(t, serve(t, func(*chatserver.Request) (chatserver.Answer, error) {
			asked <- struct{}{}
			<-hold
			return chatserver.Answer{Text: "too late"}, nil
		})...)
		t.Cleanup(func() { close(hold) }) // before the server is closed
		c := p.command("-z", "think long", "-m", "played", form)
		var out bytes.Buffer
		c.Stdout = &out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		<-asked
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		err := c.Wait()
		lines := strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
		r := readResult(t, lines[len(lines)-1])
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 130 || r.Status != 130 || r.Outcome != "interrupted" || r.Failure != nil || r.Session == "" {
			t.Errorf("%s: %v, %s", form, err, out.String())
		}
	}
}

// TestStreamHasWhatHappened reads the lines of --json-stream with the codec of the protocol.
func TestStreamHasWhatHappened(t *testing.T) {
	t.Parallel()
	const text = "It is <done> & 3 > 2.\nReally."
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		switch results(r) {
		case 0:
			return call("terminal", map[string]string{"command": "rm -rf victim"}), nil
		case 1:
			return call("write_file", map[string]string{"path": "a.txt", "content": "x"}), nil
		}
		return chatserver.Answer{Text: text}, nil
	})...)
	out, errs, status := p.run("-z", "go", "-m", "played", "--json-stream")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if status != 0 || len(lines) < 10 {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	var begin struct {
		Type, Session, Hermes string
		Version               int
	}
	if err := json.Unmarshal([]byte(lines[0]), &begin); err != nil || begin.Type != "begin" || begin.Version != protocol.Version || begin.Session == "" || begin.Hermes == "" {
		t.Errorf("the first line is %s", lines[0])
	}
	r := readResult(t, lines[len(lines)-1]+"\n")
	if r.Text != text || r.Session != begin.Session || r.Steps != 3 || len(r.Denied) != 1 || r.Denied[0].Tool != "terminal" || r.Denied[0].Outcome != "denied" ||
		r.Denied[0].Subject != "rm -rf victim" || !strings.Contains(r.Denied[0].Reason, "recursively") {
		t.Errorf("the result is %+v", r)
	}
	var streamed, kinds strings.Builder
	var seq int64
	for _, line := range lines[1 : len(lines)-1] {
		var e protocol.Envelope
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Event == nil || e.Session != begin.Session || e.Seq > 0 && e.Seq <= seq {
			t.Fatalf("%v, after %d: %s", err, seq, line)
		}
		seq = max(seq, e.Seq)
		switch d := e.Event.(type) {
		case hermes.TextDelta:
			streamed.WriteString(d.Text)
		case hermes.TurnStarted, hermes.CallDone, hermes.TurnDone:
			kinds.WriteString(strings.TrimPrefix(strings.Split(line, `"type":"`)[1], "")[:6] + " ")
		}
	}
	if seq == 0 || streamed.String() != text || kinds.String() != "turn_s call_d call_d turn_d " {
		t.Errorf("streamed %q in %s", streamed.String(), kinds.String())
	}
}

// TestFormsWorkForEveryQuestion: the form does not depend on how the question is asked.
func TestFormsWorkForEveryQuestion(t *testing.T) {
	t.Parallel()
	p := newUser(t, answering(t, `{"n": 1}`)...)
	schema := filepath.Join(p.dir, "s.json")
	if err := os.WriteFile(schema, []byte(`{"type":"object"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-z", "go"}, {"-q", "go"}, {"chat", "-q", "go", "--oneshot"}, {"chat", "-q", "go", "-Q"}, {"--query-file", "-"}, {"chat"}} {
		out, errs, status := p.runWith("piped", append(args, "-m", "played", "--json")...)
		if r := readResult(t, out); status != 0 || r.Text != `{"n": 1}` || r.Structured != nil {
			t.Errorf("%v: status %d, %s%s", args, status, out, errs)
		}
		if out, errs, status := p.runWith("piped", append(args, "-m", "played", "--schema", schema)...); status != 0 || out != "{\"n\":1}\n" {
			t.Errorf("%v with a schema: status %d, %q%s", args, status, out, errs)
		}
	}
}

// TestSchema has answers that fit at once, after a second try, and never.
func TestSchema(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}},"required":["n"],"additionalProperties":false}`
	for name, tt := range map[string]struct {
		first, second string // answers; second is empty if it is not asked for
		want          string // the printed value; empty if the run fails
		told          string // in the message that asks again
	}{
		"plain":                {`{"s":"<&>","n":1}`, "", `{"n":1,"s":"<&>"}`, ""},
		"fenced, with a fence": {"Here it is:\n```json\n{\"n\": 1,\n \"s\": \"a```b\"}\n```\n", "", "{\"n\":1,\"s\":\"a```b\"}", ""},
		"fenced":               {"```json\n{\"n\": 12345678901234567890}\n```", "", `{"n":12345678901234567890}`, ""},
		"fenced, with words":   {"Here it is:\n\n```\n{\"n\": 1}\n```\nDone.", "", `{"n":1}`, ""},
		"a trailing comma":     {`{"n": 1,}`, "", `{"n":1}`, ""},
		"a raw line break":     {"{\"n\":1,\"s\":\"a\nb\"}", "", `{"n":1,"s":"a\nb"}`, ""},
		"again":                {`{"n":"one"}`, `{"n":1}`, `{"n":1}`, `"integer"`},
		"words, then again":    {"It is one.", "```json\n{\"n\":1}\n```", `{"n":1}`, "not one valid JSON value"},
		"two values":           {`{"n":1}{"n":2}`, `{"n":1}`, `{"n":1}`, "not one valid JSON value"},
		"cut":                  {`{"n":1,"s":["a"`, `{"n":1}`, `{"n":1}`, "not one valid JSON value"},
		"a bracket too few":    {`{"n":1`, `{"n":1}`, `{"n":1}`, "not one valid JSON value"},
		"a name twice":         {`{"n":1,"n":2}`, `{"n":1}`, `{"n":1}`, `the name "n" is there twice`},
		"two code blocks":      {"```\n{\"n\":1}\n```\n```\n{\"n\":2}\n```", `{"n":1}`, `{"n":1}`, "not one valid JSON value"},
		"never":                {`{"n":"one"}`, `{"m":1}`, "", `"integer"`},
		"never, and no JSON":   {"no", "still no", "", "not one valid JSON value"},
		"an unexpected name":   {`{"n":1,"m":1}`, `{"n":1}`, `{"n":1}`, "unexpected additional properties"},
		"the value is no list": {`[1]`, `{"n":1}`, `{"n":1}`, `want "object"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var asked []string
			told := func() []string {
				mu.Lock()
				defer mu.Unlock()
				return asked
			}
			p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, r.Messages[len(r.Messages)-1].Text())
				if len(asked) == 1 {
					return chatserver.Answer{Text: tt.first}, nil
				}
				return chatserver.Answer{Text: tt.second}, nil
			})...)
			path := filepath.Join(p.dir, "s.json")
			if err := os.WriteFile(path, []byte(schema), 0o600); err != nil {
				t.Fatal(err)
			}
			run := func(args ...string) (string, string, int) {
				mu.Lock()
				asked = nil
				mu.Unlock()
				return p.run(append([]string{"-z", "count", "-m", "played", "--schema", path}, args...)...)
			}
			out, errs, status := run()
			said := told()
			if (status == 0) != (tt.want != "") || status > 1 || tt.want != "" && out != tt.want+"\n" || tt.want == "" && (out != "" || !strings.Contains(errs, "does not fit the JSON Schema")) {
				t.Errorf("status %d, out %q, errs %q", status, out, errs)
			}
			if !strings.Contains(said[0], schema) || len(said) != 1+len(tt.second)/max(len(tt.second), 1) || len(said) > 1 && !strings.Contains(said[1], tt.told) {
				t.Errorf("the model was told %q", said)
			}
			out, _, status = run("--json")
			said = told()
			r := readResult(t, out)
			if string(r.Structured) != tt.want || r.Status != status || r.Steps != len(said) || r.Usage.Calls != int64(len(said)) || (r.Failure != nil) != (tt.want == "") {
				t.Errorf("status %d, %s", status, out)
			}
			if r.Failure != nil && (r.Failure.Class != "schema" || r.Outcome != "failed" || status != 1 || r.Text != tt.second) {
				t.Errorf("status %d, %s", status, out)
			}
		})
	}
}

// TestStreamLosesNothingForASlowReader reads nothing before the first answer has been taken in
// whole. It is larger than a pipe, and the second one than what is kept for a slow reader.
func TestStreamLosesNothingForASlowReader(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1 << 20, 5 << 20} {
		var long strings.Builder
		for i := 0; long.Len() < size; i++ {
			fmt.Fprintf(&long, "Line-%x-of-it,-which-is-one-long-word,-is-%d.\n", i*i, i)
		}
		text := long.String()
		taken := make(chan struct{})
		p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
			if results(r) == 0 {
				a := call("terminal", map[string]string{"command": "true"})
				a.Text = text
				return a, nil
			}
			close(taken)
			return chatserver.Answer{Text: "done"}, nil
		})...)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c := p.command("-z", "go", "-m", "played", "--json-stream")
		c.Stdout, c.Stderr = w, os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		<-taken
		raw, err := io.ReadAll(r)
		if err := errors.Join(err, c.Wait()); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
		var streamed, stored string
		for _, line := range lines[1 : len(lines)-1] {
			var e protocol.Envelope
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			switch d := e.Event.(type) {
			case hermes.TextDelta:
				streamed += d.Text
			case hermes.Appended:
				if d.Message.Role == hermes.RoleAssistant {
					stored += d.Message.Visible()
				}
			}
		}
		if size == 1<<20 && streamed != text+"done" || stored != text+"done" {
			t.Errorf("of %d bytes %d are streamed, %d in whole messages", len(text), len(streamed), len(stored))
		}
		if res := readResult(t, lines[len(lines)-1]+"\n"); res.Text != "done" {
			t.Errorf("the result is %+v", res)
		}
	}
}
