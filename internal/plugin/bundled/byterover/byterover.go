// Package byterover is the plugin that remembers with ByteRover, whose command line brv keeps a tree of
// notes in a folder. It starts brv behind the walls of the plugin, in its private home. Start at New.
package byterover

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hermes/internal/ansi"
	"hermes/internal/plugin/bundled/found"
	"hermes/internal/plugin/bundled/typed"
	"hermes/internal/plugin/sdk"
	"hermes/internal/proc"
	"hermes/internal/redact"
	"hermes/internal/text"
)

// Files are the manifest and what it says to users.
//
//go:embed plugin.yaml README.md
var Files embed.FS

// Name is that of the plugin.
const Name = "byterover"

const (
	// How long one command may take.
	recallTime  = 10 * time.Second
	queryTime   = 60 * time.Second
	curateTime  = 110 * time.Second
	observeTime = 20 * time.Second
	maxOutput   = 1 << 20 // bytes
	// leastSaid is how long something has to be to be worth remembering, in characters.
	leastSaid = 20
)

// Config is what the plugin runs on.
type Config struct {
	Version string
	// Program is brv, as a name or a path.
	Program string
	// Home is the private home; the notes are in the folder byterover of it.
	Home string
	// Env is the environment of brv.
	Env []string
}

// New makes the plugin.
func New(c Config) *sdk.Plugin {
	b := &brv{c, filepath.Join(c.Home, "byterover")}
	return &sdk.Plugin{
		Name: Name, Version: c.Version, Tools: b.tools(),
		Memory: &sdk.Memory{Recall: b.recall, Observe: b.observe, Commands: []sdk.MemoryCommand{found.Command(b.recall)}},
	}
}

// brv is the command line.
type brv struct {
	Config
	dir string
}

// run runs one command and returns what it prints.
func (b *brv) run(ctx context.Context, most time.Duration, words ...string) (string, error) {
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("brv %s did not end within %v", words[0], most))
	defer cancel()
	out, errs := &limited{}, &limited{}
	st, err := proc.Run(ctx, proc.Command{ // Hermes ends it with the plugin, if it is left
		Path: b.Program, Args: words, Dir: b.dir, Env: b.Env, Stdout: out, Stderr: errs, Files: nil, Grace: time.Second, Drain: time.Second,
	})
	said := strings.TrimSpace(ansi.Plain(out.Bytes()))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", errors.New("the program brv is not found; ask the user to install it with `npm install -g byterover-cli`")
	case err != nil:
		return "", err
	case st.Code != 0:
		why := text.OneLine(redact.Text(strings.TrimSpace(ansi.Plain(errs.Bytes())+" "+said)), 300)
		return "", fmt.Errorf("brv %s failed with exit status %d: %s", words[0], st.Code, why)
	}
	return said, nil
}

// result is what brv prints with --format json, one object on its last line. A failure has the exit
// status 0.
type result struct {
	Success bool `json:"success"`
	Data    struct {
		Error   string `json:"error"`
		Message string `json:"message"`
		Results []struct {
			Path    string `json:"path"`
			Title   string `json:"title"`
			Excerpt string `json:"excerpt"`
		} `json:"results"`
	} `json:"data"`
}

// json runs one command and reads what it prints.
func (b *brv) json(ctx context.Context, most time.Duration, words ...string) (r result, err error) {
	said, err := b.run(ctx, most, append(words, "--format", "json")...)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(said[strings.LastIndexByte(said, '\n')+1:]), &r); err != nil {
		return r, fmt.Errorf("what brv %s prints cannot be read: %w", words[0], err)
	}
	if !r.Success {
		return r, fmt.Errorf("brv %s failed: %s", words[0], text.OneLine(redact.Text(cmp.Or(r.Data.Error, r.Data.Message, "it does not say why")), 300))
	}
	return r, nil
}

// recall searches by words, which takes no model: the user waits for it.
func (b *brv) recall(ctx context.Context, _ *sdk.Call, query string, limit int) (string, error) {
	if query = found.Query(query); query == "" {
		return "", nil
	}
	r, err := b.json(ctx, recallTime, "search", word(query), "--limit", "8")
	var texts []string
	for _, one := range r.Data.Results {
		texts = append(texts, strings.TrimPrefix(strings.TrimSpace(one.Title+": "+one.Excerpt), ": "))
	}
	return found.List(texts, limit), err
}

// observe queues a turn. brv works on it in the background.
func (b *brv) observe(ctx context.Context, _ *sdk.Call, t sdk.Turn) error {
	if len([]rune(t.Said)) < leastSaid {
		return nil
	}
	_, err := b.json(ctx, observeTime, "curate", "User: "+text.Cut(t.Said, 4000)+"\nAssistant: "+text.Cut(t.Answer, 4000), "--detach")
	return err
}

// word keeps a text from being read as a flag.
func word(s string) string {
	if strings.HasPrefix(s, "-") {
		return " " + s
	}
	return s
}

type queryArgs struct {
	Query string `json:"query" doc:"a whole question"`
}

type curateArgs struct {
	Content string `json:"content" doc:"the fact, decision or pattern, in full sentences"`
}

type noArgs struct{}

func (b *brv) tools() []sdk.Tool {
	return []sdk.Tool{
		typed.Tool(typed.Spec{Name: "brv_query", Description: "Ask the notes of ByteRover a question.", Reads: true}, func(ctx context.Context, _ *sdk.Call, in queryArgs) (any, error) {
			if strings.TrimSpace(in.Query) == "" {
				return nil, errors.New("query is empty; ask a whole question")
			}
			return b.run(ctx, queryTime, "query", word(found.Query(in.Query)))
		}),
		typed.Tool(typed.Spec{Name: "brv_curate", Description: "Write a fact, a decision or a pattern into the notes of ByteRover."}, func(ctx context.Context, _ *sdk.Call, in curateArgs) (any, error) {
			if strings.TrimSpace(in.Content) == "" {
				return nil, errors.New("content is empty; say what to write down")
			}
			return b.run(ctx, curateTime, "curate", word(in.Content))
		}),
		typed.Tool(typed.Spec{Name: "brv_status", Description: "Show the state of ByteRover.", Reads: true}, func(ctx context.Context, _ *sdk.Call, _ noArgs) (any, error) {
			return b.run(ctx, queryTime, "status")
		}),
	}
}

// limited keeps the first bytes that are written to it.
type limited struct{ bytes.Buffer }

// Write keeps what fits.
func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:min(len(p), max(0, maxOutput-l.Len()))])
	return len(p), nil
}
