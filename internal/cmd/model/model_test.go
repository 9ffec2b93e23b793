package model

import (
	"context"
	"errors"
	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"strings"
	"testing"
)

// fake is a catalogue with three models of one service.
type fake struct {
	current  string
	services []Service
	fails    func(service string) bool // a service that does not answer
	saved    string
}

func newFake() *fake {
	return &fake{current: "local:a", services: []Service{{Name: "local", Title: "Local"}, {Name: "far", Title: "Far", Missing: "set FAR_API_KEY"}}}
}

func (k *fake) Current(context.Context) (string, string, error) { return k.current, "config.yaml", nil }

func (k *fake) Services() ([]Service, error) { return k.services, nil }

func (k *fake) Models(_ context.Context, service string) ([]string, error) {
	if k.fails != nil && k.fails(service) {
		return nil, errors.New("no answer")
	}
	return []string{"llama-3", "qwen-coder", "qwen-chat"}, nil
}

func (k *fake) Resolve(_ context.Context, ref string) (string, error) {
	if ref == "bad" {
		return "", errors.New("unknown model")
	}
	return ref, nil
}

func (k *fake) Save(_ context.Context, ref string) (string, error) {
	k.saved = ref
	return "config.yaml", nil
}

// on makes a factory with a terminal or none.
func on(terminal bool) *factory.Factory {
	return factory.New(app.Options{}, factory.IO{Terminal: func() bool { return terminal }})
}

func TestListIsShownOnATerminal(t *testing.T) {
	t.Parallel()
	for want, index := range map[string]int{"local:qwen-coder": 1, "": -1} {
		k, f := newFake(), on(true)
		k.current = "local:qwen-chat"
		f.Choose = func(_ string, items []string, current int) (int, error) {
			if len(items) != 3 || current != 2 {
				t.Errorf("shown %q, in use %d", items, current)
			}
			return index, nil
		}
		c := NewCmd(f, k)
		c.SetArgs(nil)
		c.SetOut(&strings.Builder{})
		if err := c.ExecuteContext(t.Context()); err != nil || k.saved != want {
			t.Errorf("saved %q, %v, want %q", k.saved, err, want)
		}
	}
}

// TestServerThatDoesNotRunIsNotReady covers servers that Hermes looks for on their usual ports.
func TestServerThatDoesNotRunIsNotReady(t *testing.T) {
	t.Parallel()
	k, f := newFake(), on(false)
	k.services = []Service{{Name: "local"}, {Name: "ollama", Guessed: true}, {Name: "vllm", Guessed: true}}
	k.fails = func(name string) bool { return name == "ollama" }
	for args, want := range map[string]string{"": "Ready services: local, vllm\n", "list --all": "ollama  no such server is running on this machine\n"} {
		var out strings.Builder
		c := NewCmd(f, k)
		c.SetArgs(strings.Fields(args))
		c.SetOut(&out)
		if err := c.ExecuteContext(t.Context()); err != nil || !strings.HasSuffix(out.String(), want) {
			t.Errorf("%q: got %q, %v, want %q at the end", args, out.String(), err, want)
		}
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args        []string
		in          string
		terminal    bool
		saved, says string
	}{
		"a reference is saved":             {args: []string{"local:llama-3"}, saved: "local:llama-3", says: "New sessions use local:llama-3"},
		"an unknown one is not":            {args: []string{"bad"}},
		"without a terminal it shows":      {says: "Ready services: local"},
		"a number chooses":                 {terminal: true, in: "2\n", saved: "local:qwen-coder"},
		"letters in order narrow":          {terminal: true, in: "qch\n", saved: "local:qwen-chat"},
		"a part of two names asks on":      {terminal: true, in: "qwen\n1\n", saved: "local:qwen-coder"},
		"no match":                         {terminal: true, in: "zzz\n\n", says: `No match for "zzz"`},
		"Enter cancels":                    {terminal: true, in: "\n"},
		"the end of the input cancels":     {terminal: true, in: ""},
		"list":                             {args: []string{"list"}, says: "local:llama-3"},
		"list --all shows what is missing": {args: []string{"list", "--all"}, says: "set FAR_API_KEY"},
	} {
		k := newFake()
		var out strings.Builder
		c := NewCmd(on(tt.terminal), k)
		c.SetArgs(tt.args)
		c.SetIn(strings.NewReader(tt.in))
		c.SetOut(&out)
		c.SetErr(&out)
		err := c.ExecuteContext(t.Context())
		if bad := name == "an unknown one is not"; bad != (err != nil) {
			t.Errorf("%s: %v", name, err)
		}
		if k.saved != tt.saved || !strings.Contains(out.String(), tt.says) {
			t.Errorf("%s: saved %q, said %s", name, k.saved, out.String())
		}
	}
}

// TestATypoInTheNameIsReported covers the user's own servers; public services are
// not asked.
func TestATypoInTheNameIsReported(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		"local:qwen-codre": `does not list "qwen-codre". It has: llama-3, qwen-coder, qwen-chat.`,
		"local:llama-3":    "", "paid:qwen-codre": "", "down:qwen-codre": "",
	} {
		k, f := newFake(), on(false)
		k.services = []Service{{Name: "local", Own: true}, {Name: "down", Own: true}, {Name: "paid"}}
		k.fails = func(name string) bool { return name != "local" }
		var out strings.Builder
		c := NewCmd(f, k)
		c.SetArgs([]string{ref})
		c.SetOut(&out)
		if err := c.ExecuteContext(t.Context()); err != nil || k.saved != ref || !strings.Contains(out.String(), want) || want == "" && strings.Contains(out.String(), "Note") {
			t.Errorf("%s: saved %q, %v, printed %q", ref, k.saved, err, out.String())
		}
	}
}

func TestListOfAllServicesIsATable(t *testing.T) {
	t.Parallel()
	k, f := newFake(), on(false)
	k.services = []Service{
		{Name: "far", Missing: `provider "far" needs a key`},
		{Name: "a-service-with-a-long-name", Missing: "needs a login"},
	}
	var out strings.Builder
	c := NewCmd(f, k)
	c.SetArgs([]string{"list", "--all"})
	c.SetOut(&out)
	if err := c.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "far                         needs a key\na-service-with-a-long-name  needs a login\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("got:\n%s", out.String())
	}
}
