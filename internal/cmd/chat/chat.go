// Package chat is the commands that talk with the agent: the chat in the
// terminal, a single question, and the bare one-shot.
//
// Start at chat.go (which of them a command line means), then ask.go (one
// question, one answer) and talk.go (the chat).
package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/session"
)

// IO are the streams of the command.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
}

// Options are the flags of the chat and of the root command.
type Options struct {
	App app.Options
	IO  IO

	Query, QueryFile string
	Oneshot, Quiet   bool
	Verbose          bool
	Prompt           string // -z
	Images           []string
	UsageFile        string
	Resume           string
	Continue         string
	MaxTurns         int
	Source           string

	// Suggest names the commands that a word is like; nil for none.
	Suggest func(word string) []string

	asked struct{ query, prompt, carryOn, maxTurns bool } // flags that were given
	cost  *float64                                        // of a one-shot turn in US dollars; nil is not known
}

// anySession stands for a -c without a title.
const anySession = "latest"

// NewCmd makes the chat command; as the root it also has the flags that only
// the root has.
func NewCmd(o *Options, root bool) *cobra.Command {
	c := &cobra.Command{
		Use:   "chat",
		Short: "Talk with the agent",
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			f := c.Flags()
			o.asked.query = f.Changed("query") || f.Changed("query-file")
			o.asked.prompt = f.Lookup("prompt") != nil && f.Changed("prompt")
			o.asked.carryOn = f.Changed("continue")
			o.asked.maxTurns = f.Changed("max-turns")
			return run(c.Context(), o, args)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.Query, "query", "q", "", "send this as the first message")
	f.StringVar(&o.QueryFile, "query-file", "", "send the content of this file as the first message; - is the standard input")
	f.BoolVar(&o.Oneshot, "oneshot", false, "answer and leave")
	f.BoolVarP(&o.Quiet, "quiet", "Q", false, "print the answer alone")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "show arguments and results of tool calls")
	f.StringArrayVar(&o.Images, "image", nil, "attach this picture to the first message")
	f.StringVarP(&o.App.Model, "model", "m", "", "use this model: name, provider:name or an alias")
	f.StringVar(&o.App.Provider, "provider", "", "use this provider")
	f.StringSliceVarP(&o.App.Toolsets, "toolsets", "t", nil, "offer these toolsets only, comma separated")
	f.StringSliceVarP(&o.App.Skills, "skills", "s", nil, "load these skills from the beginning, comma separated")
	f.StringVarP(&o.Resume, "resume", "r", "", "go on with a session: its id, its title, or latest (the last active one of this folder, else of all)")
	f.StringVarP(&o.Continue, "continue", "c", "", "go on with the newest session, or the newest with this title")
	f.Lookup("continue").NoOptDefVal = anySession
	f.StringVar(&o.App.Dir, "in", "", "work in this folder")
	f.IntVar(&o.MaxTurns, "max-turns", 0, "model calls that a turn may make; 0 is no limit")
	f.StringVar(&o.Source, "source", "", "label of the session (default cli, or oneshot)")
	f.BoolVar(&o.App.PassSessionID, "pass-session-id", false, "tell the model the session's id")
	if root {
		f.StringVarP(&o.Prompt, "prompt", "z", "", "answer this and print nothing but the final text")
		f.StringVar(&o.UsageFile, "usage-file", "", "with -z: write what the run cost to this file, as JSON")
	}
	return c
}

// run finds out what is wanted: the chat, one question, or the bare one-shot.
func run(ctx context.Context, o *Options, args []string) error {
	if err := o.settle(args); err != nil {
		return err
	}
	if o.App.Dir != "" {
		if err := os.Chdir(o.App.Dir); err != nil {
			return usage("--in: %w; name a folder that is there", err)
		}
		o.App.Dir = ""
	}
	if err := o.knownToolsets(ctx); err != nil {
		return err
	}
	text, given, err := o.message()
	if err != nil {
		return err
	}
	switch {
	case o.asked.prompt:
		return o.bare(ctx, text)
	case o.finite():
		if !given {
			return usage("there is nothing to answer: give a question with -q, or text on the standard input")
		}
		return o.ask(ctx, text)
	}
	return o.runChat(ctx, text)
}

// knownToolsets refuses names after -t that nothing has.
func (o *Options) knownToolsets(ctx context.Context) error {
	if len(o.App.Toolsets) == 0 {
		return nil
	}
	known, _, err := app.New(o.App).Toolsets()
	if err != nil {
		return nil // told where it is needed
	}
	if _, unknown := known.Expand(ctx, o.App.Toolsets...); len(unknown) > 0 {
		return usage("there is no toolset or tool %q; `hermes tools` lists them", unknown[0])
	}
	return nil
}

// settle reads what cobra leaves as arguments: the title of -c.
func (o *Options) settle(args []string) error {
	if o.Continue == anySession && len(args) > 0 {
		o.Continue, args = strings.Join(args, " "), nil
	}
	if len(args) > 0 {
		near := ""
		if o.Suggest != nil {
			if names := o.Suggest(args[0]); len(names) > 0 {
				near = fmt.Sprintf("; did you mean `hermes %s`", names[0])
			}
		}
		return usage("%q is not a command%s; to ask something use: hermes -z %q", args[0], near, strings.Join(args, " "))
	}
	if o.MaxTurns < 0 {
		return usage("--max-turns %d: give a number, or 0 for no limit", o.MaxTurns)
	}
	if o.Query != "" && o.QueryFile != "" {
		return usage("give -q or --query-file, not both")
	}
	if o.Resume != "" && o.asked.carryOn {
		return usage("give --resume or --continue, not both")
	}
	if o.asked.maxTurns {
		o.App.MaxTurns = &o.MaxTurns
	}
	return nil
}

// finite reports whether one answer is wanted and no chat.
func (o *Options) finite() bool {
	return o.Oneshot || o.Quiet || len(o.Images) > 0 || !terminal(o.IO.In) || !terminal(o.IO.Out)
}

// message is the first message: the flag's, the file's or the prompt's text,
// with what is piped in under it.
func (o *Options) message() (text string, given bool, err error) {
	text = o.Query
	if o.asked.prompt {
		text = o.Prompt
	}
	fromStdin := o.QueryFile == "-"
	if o.QueryFile != "" && !fromStdin {
		raw, err := os.ReadFile(o.QueryFile)
		if err != nil {
			return "", false, usage("--query-file: %w; name a text file that can be read, or - for the standard input", err)
		}
		text = string(raw)
	}
	if (fromStdin || !terminal(o.IO.In)) && o.IO.In != nil {
		piped, err := io.ReadAll(io.LimitReader(o.IO.In, maxPiped+1))
		if err != nil {
			return "", false, fmt.Errorf("read the standard input: %w", err)
		}
		if len(piped) > maxPiped {
			return "", false, usage("more than %d MB came on the standard input; save it to a file and name the file instead", maxPiped>>20)
		}
		text = under(text, strings.ToValidUTF8(string(piped), "\uFFFD"))
	}
	return text, strings.TrimSpace(text) != "" || len(o.Images) > 0, nil
}

// maxPiped bounds what is read from the standard input.
const maxPiped = 8 << 20

func under(text, piped string) string {
	if strings.TrimSpace(piped) == "" {
		return text
	}
	if strings.TrimSpace(text) == "" {
		return piped
	}
	return text + "\n\n" + piped
}

// open brings the wanted session to life. waiting, if any, is told what that
// waits for.
func (o *Options) open(ctx context.Context, a *app.App, title string, attended bool, waiting func(string)) (*session.Session, error) {
	m, err := a.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.CheckSkills(ctx); err != nil {
		return nil, err
	}
	dir, err := a.Dir()
	if err != nil {
		return nil, err
	}
	want := session.Open{Platform: o.platform(attended), Dir: dir, Model: o.modelRef(), Title: title, Attended: attended, Waiting: waiting}
	if want.Resume, err = o.resume(ctx, a, dir); err != nil {
		return nil, err
	}
	s, err := m.Open(ctx, want)
	if errors.Is(err, hermes.ErrNotFound) {
		return nil, fmt.Errorf("no session %q; `hermes sessions list` shows them", want.Resume)
	}
	return s, err
}

// modelRef is the model that the flags ask for; a resumed session otherwise
// keeps its own.
func (o *Options) modelRef() string {
	if o.App.Provider != "" && o.App.Model != "" && !strings.Contains(o.App.Model, ":") {
		return o.App.Provider + ":" + o.App.Model
	}
	return o.App.Model
}

func (o *Options) platform(attended bool) string {
	if o.Source != "" {
		return o.Source
	}
	if attended {
		return "cli"
	}
	return "oneshot"
}

// resume is the reference of the session to go on with, or empty.
func (o *Options) resume(ctx context.Context, a *app.App, dir string) (string, error) {
	switch {
	case o.Resume != "" && o.Resume != "latest":
		return o.Resume, nil
	case o.asked.carryOn && o.Continue != anySession && o.Continue != "":
		return o.Continue, nil
	case o.Resume == "" && !o.asked.carryOn:
		return "", nil
	}
	store, err := a.Store(ctx)
	if err != nil {
		return "", err
	}
	row, err := session.Latest(ctx, store, dir)
	return row.ID, err
}

func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func usage(format string, args ...any) error {
	return &app.ExitError{Status: 2, Err: fmt.Errorf(format, args...)}
}
