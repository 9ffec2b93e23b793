package texttool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/texttool"
)

func known(name string) bool { return name == "read" || name == "write" }

// scan feeds text in pieces of the given size.
func scan(text string, size int) (string, []texttool.Call) {
	s := texttool.New(known)
	var prose strings.Builder
	var calls []texttool.Call
	for text != "" {
		n := min(size, len(text))
		p, c := s.Feed(text[:n])
		prose.WriteString(p)
		calls = append(calls, c...)
		text = text[n:]
	}
	p, c := s.End()
	prose.WriteString(p)
	return prose.String(), append(calls, c...)
}

func TestCallsInText(t *testing.T) {
	t.Parallel()
	read := texttool.Call{Name: "read", Arguments: `{"path":"a"}`}
	write := texttool.Call{Name: "write", Arguments: `{}`}
	one := []texttool.Call{read}
	for name, tt := range map[string]struct {
		in    string
		prose string
		calls []texttool.Call
	}{
		"tags":                       {"<tool_call>\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n</tool_call>", "", one},
		"words before":               {"Let me look.\n<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}</tool_call>", "Let me look.\n", one},
		"two of them":                {"<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}</tool_call>\n<tool_call>{\"name\":\"write\"}</tool_call>\n", "", []texttool.Call{read, write}},
		"the end tag is missing":     {"<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}", "", one},
		"arguments as a string":      {`<tool_call>{"name":"read","arguments":"{\"path\":\"a\"}"}</tool_call>`, "", one},
		"plain JSON":                 {`{"name":"read","arguments":{"path":"a"}}`, "", one},
		"plain JSON, parameters":     {`{"name": "read", "parameters": {"path":"a"}}`, "", one},
		"an array":                   {`[{"name":"read","arguments":{"path":"a"}},{"name":"write"}]`, "", []texttool.Call{read, write}},
		"in a fence":                 {"```json\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n```", "", one},
		"the protocol's own shape":   {`{"id":"1","type":"function","function":{"name":"read","arguments":{"path":"a"}}}`, "", one},
		"python tag":                 {`<|python_tag|>{"name":"read","parameters":{"path":"a"}}`, "", one},
		"tool calls word":            {`[TOOL_CALLS][{"name":"read","arguments":{"path":"a"}}]`, "", one},
		"named parameters":           {"<function=read>\n<parameter=path>\na\n</parameter>\n</function>", "", one},
		"named parameters in tags":   {"<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>", "", one},
		"prose":                      {"Hello <b>world</b> [1]", "Hello <b>world</b> [1]", nil},
		"JSON that is an answer":     {`{"result": 3}`, `{"result": 3}`, nil},
		"JSON of an unknown tool":    {`{"name":"fly","arguments":{}}`, `{"name":"fly","arguments":{}}`, nil},
		"tags round an unknown tool": {"<tool_call>{\"name\":\"fly\"}</tool_call> x", "<tool_call>{\"name\":\"fly\"}</tool_call> x", nil},
		"a mention in a line":        {"Write <tool_call>{\"name\":\"read\"}</tool_call> to call", "Write <tool_call>{\"name\":\"read\"}</tool_call> to call", nil},
		"half of a tag":              {"<tool_c", "<tool_c", nil},
		"a fence with code":          {"```go\nx := 1\n```\n", "```go\nx := 1\n```\n", nil},
		"arguments that are broken":  {`<tool_call>{"name":"read","arguments":{"path":</tool_call>`, `<tool_call>{"name":"read","arguments":{"path":</tool_call>`, nil},
		"nothing":                    {"", "", nil},
	} {
		for size := 1; size <= len(tt.in)+1; size++ {
			prose, calls := scan(tt.in, size)
			if prose != tt.prose {
				t.Fatalf("%s in pieces of %d: prose %q", name, size, prose)
			}
			if diff := cmp.Diff(tt.calls, calls); diff != "" {
				t.Fatalf("%s in pieces of %d: %s", name, size, diff)
			}
		}
	}
}

func TestProseIsNotHeldBack(t *testing.T) {
	t.Parallel()
	s := texttool.New(known)
	if got, _ := s.Feed("Hello "); got != "Hello " {
		t.Errorf("held back %q", got)
	}
	if got, _ := s.Feed("{\"name\""); got == "" {
		t.Error("JSON in the middle of prose was held back")
	}
	if got, _ := texttool.New(known).Feed(`{"answer": 1`); got == "" {
		t.Error("an object that is no call was held back")
	}
}

func FuzzScanner(f *testing.F) {
	f.Add("<tool_call>{\"name\":\"read\"}</tool_call>", 3)
	f.Add("```json\n{\"name\":\"read\"", 1)
	f.Add("<function=read><parameter=a>b</parameter></function>", 7)
	f.Fuzz(func(t *testing.T, text string, size int) {
		prose, calls := scan(text, max(1, size%64))
		for _, c := range calls {
			if !json.Valid([]byte(c.Arguments)) || !known(c.Name) {
				t.Errorf("call %+v", c)
			}
		}
		if len(calls) == 0 && prose != text {
			t.Errorf("text changed from %q to %q", text, prose)
		}
	})
}
