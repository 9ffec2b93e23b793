package model

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func deps(saved *string, terminal bool) Deps {
	return Deps{
		Current: func(context.Context) (string, string, error) { return "local:a", "config.yaml", nil },
		Services: func() ([]Service, error) {
			return []Service{{Name: "local", Title: "Local"}, {Name: "far", Title: "Far", Missing: "set FAR_API_KEY"}}, nil
		},
		Models: func(context.Context, string) ([]string, error) {
			return []string{"llama-3", "qwen-coder", "qwen-chat"}, nil
		},
		Resolve: func(_ context.Context, ref string) (string, error) {
			if ref == "bad" {
				return "", errors.New("unknown model")
			}
			return ref, nil
		},
		Save:     func(_ context.Context, ref string) (string, error) { *saved = ref; return "config.yaml", nil },
		Terminal: func() bool { return terminal },
	}
}

func TestListIsShownOnATerminal(t *testing.T) {
	t.Parallel()
	for want, index := range map[string]int{"local:qwen-coder": 1, "": -1} {
		var saved string
		d := deps(&saved, true)
		d.Current = func(context.Context) (string, string, error) { return "local:qwen-chat", "config.yaml", nil }
		d.Choose = func(_ string, items []string, current int) (int, error) {
			if len(items) != 3 || current != 2 {
				t.Errorf("shown %q, in use %d", items, current)
			}
			return index, nil
		}
		c := NewCmd(d, nil)
		c.SetArgs(nil)
		c.SetOut(&strings.Builder{})
		if err := c.ExecuteContext(t.Context()); err != nil || saved != want {
			t.Errorf("saved %q, %v, want %q", saved, err, want)
		}
	}
}

// TestServerThatDoesNotRunIsNotReady covers servers that Hermes looks for on their usual ports.
func TestServerThatDoesNotRunIsNotReady(t *testing.T) {
	t.Parallel()
	var saved string
	d := deps(&saved, false)
	d.Services = func() ([]Service, error) {
		return []Service{{Name: "local"}, {Name: "ollama", Guessed: true}, {Name: "vllm", Guessed: true}}, nil
	}
	models := d.Models
	d.Models = func(ctx context.Context, name string) ([]string, error) {
		if name == "ollama" {
			return nil, errors.New("no server")
		}
		return models(ctx, name)
	}
	for args, want := range map[string]string{"": "Ready services: local, vllm\n", "list --all": "ollama  no such server is running on this machine\n"} {
		var out strings.Builder
		c := NewCmd(d, nil)
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
		var saved string
		var out strings.Builder
		c := NewCmd(deps(&saved, tt.terminal), nil)
		c.SetArgs(tt.args)
		c.SetIn(strings.NewReader(tt.in))
		c.SetOut(&out)
		c.SetErr(&out)
		err := c.ExecuteContext(t.Context())
		if bad := name == "an unknown one is not"; bad != (err != nil) {
			t.Errorf("%s: %v", name, err)
		}
		if saved != tt.saved || !strings.Contains(out.String(), tt.says) {
			t.Errorf("%s: saved %q, said %s", name, saved, out.String())
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
		var saved string
		d := deps(&saved, false)
		d.Services = func() ([]Service, error) {
			return []Service{{Name: "local", Own: true}, {Name: "down", Own: true}, {Name: "paid"}}, nil
		}
		models := d.Models
		d.Models = func(ctx context.Context, name string) ([]string, error) {
			if name != "local" {
				return nil, errors.New("no answer")
			}
			return models(ctx, name)
		}
		var out strings.Builder
		c := NewCmd(d, nil)
		c.SetArgs([]string{ref})
		c.SetOut(&out)
		if err := c.ExecuteContext(t.Context()); err != nil || saved != ref || !strings.Contains(out.String(), want) || want == "" && strings.Contains(out.String(), "Note") {
			t.Errorf("%s: saved %q, %v, printed %q", ref, saved, err, out.String())
		}
	}
}

func TestListOfAllServicesIsATable(t *testing.T) {
	t.Parallel()
	var saved string
	d := deps(&saved, false)
	d.Services = func() ([]Service, error) {
		return []Service{
			{Name: "far", Missing: `provider "far" needs a key`},
			{Name: "a-service-with-a-long-name", Missing: "needs a login"},
		}, nil
	}
	var out strings.Builder
	c := NewCmd(d, nil)
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
