// Package chat implements the commands that talk with the agent: the chat in the
// terminal, a single question (-q), and the one-shot (-z) that prints only the
// answer. It owns their flags; the app makes the sessions, and the tui shows
// them.
//
// Start at chat.go, which finds out what a command line asks for, then read
// ask.go (one question, one answer) and run.go (the chat).
package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/jsonschema"
	"hermes/internal/session"
)

// Options are the flags of the chat and of the root command.
type Options struct {
	*factory.Factory

	Query, QueryFile string
	Oneshot, Quiet   bool
	Verbose          bool
	Prompt           string // -z
	Images           []string
	UsageFile        string
	Resume           string
	Continue         string
	MaxTurns         int
	Yolo             bool
	AcceptHooks      bool
	Output           Output
	Limits           Limits
	Worktree         bool

	// MayAttend is asked before a chat in which the user answers questions and
	// types slash commands; nil allows it.
	MayAttend func() error

	// Suggest lists the commands that are similar to a word; nil suggests none.
	Suggest func(word string) []string

	asked  struct{ query, prompt, carryOn, maxTurns, maxUSD, worktree bool } // which flags were set
	schema *jsonschema.Schema                                                // of the answer; nil is any text
	attach string                                                            // the id of the running session to attach to
	// attachedIn says where that one runs.
	attachedIn string
}

// anySession is the value of -c without a title.
const anySession = "latest"

// NewCmd makes the chat command. As the root command it also has the flags of the
// root.
func NewCmd(o *Options, root bool) *cobra.Command {
	c := &cobra.Command{
		Use:   "chat",
		Short: "Chat with the agent",
		Example: "  hermes chat\n" +
			"  hermes chat -m anthropic:claude-sonnet-4-5 -t file,terminal\n" +
			"  hermes chat -q \"why does the build fail?\"",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			f := c.Flags()
			o.asked.query = f.Changed("query") || f.Changed("query-file")
			o.asked.prompt = f.Lookup("prompt") != nil && f.Changed("prompt")
			o.asked.carryOn = f.Changed("continue")
			o.asked.maxTurns = f.Changed("max-turns")
			o.asked.maxUSD = f.Changed("max-usd")
			o.asked.worktree = f.Changed("worktree")
			return run(c.Context(), o, args)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.Query, "query", "q", "", "send this as the first message")
	f.StringVar(&o.QueryFile, "query-file", "", "read the first message from this file; - is standard input")
	f.BoolVar(&o.Oneshot, "oneshot", false, "answer once and quit")
	f.BoolVarP(&o.Quiet, "quiet", "Q", false, "print only the answer")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "show arguments and results of tool calls")
	f.StringArrayVar(&o.Images, "image", nil, "attach this image to the first message")
	f.StringVarP(&o.Run.Model.Ref, "model", "m", "", "use this model: name, provider:name or an alias")
	f.StringVar(&o.Run.Model.Provider, "provider", "", "use this provider")
	f.StringSliceVarP(&o.Run.Tools.Enabled, "toolsets", "t", nil, "use only these toolsets (comma-separated)")
	f.StringSliceVarP(&o.Run.Prompt.Skills, "skills", "s", nil, "load these skills at the start (comma-separated)")
	f.StringVarP(&o.Resume, "resume", "r", "", "resume a session by id or title; latest is the last active one of this folder, else of all")
	f.StringVarP(&o.Continue, "continue", "c", "", "resume the latest session, or the latest with this title")
	f.Lookup("continue").NoOptDefVal = anySession
	f.StringVar(&o.Run.Workspace.Dir, "in", "", "work in this folder")
	f.BoolVarP(&o.Worktree, "worktree", "w", false, "work in a new Git worktree, which is removed at the end if nothing would be lost")
	f.StringVar(&o.Run.Workspace.Backend, "backend", "", "run commands there: local, docker, ssh, plugin:NAME, … (default terminal.backend)")
	f.IntVar(&o.MaxTurns, "max-turns", 0, "maximum model calls per turn; 0 is no limit")
	f.StringVar((*string)(&o.Run.Rights.Mode), "mode", "", "begin in this mode: ask, plan (change nothing), accept-edits or yolo")
	f.StringVar(&o.Run.Origin.Label, "source", "", "label of the session in lists (default cli or oneshot)")
	f.BoolVar(&o.Run.Prompt.PassSessionID, "pass-session-id", false, "give the model the id of the session")
	o.Output.flags(f)
	o.Limits.flags(f)
	if root {
		f.StringVarP(&o.Prompt, "prompt", "z", "", "answer this prompt and print only the final text")
		f.StringVar(&o.UsageFile, "usage-file", "", "with -z: write the tokens and cost of the run to this JSON file")
	}
	return c
}

// run runs what the flags ask for: the chat, one question, or the one-shot.
func run(ctx context.Context, o *Options, args []string) error {
	if err := o.settle(args); err != nil {
		return err
	}
	if err := o.enter(); err != nil {
		return err
	}
	if o.finite() {
		o.Global.Note = func(text string) { fmt.Fprintln(o.Err, "hermes:", text) }
	}
	if err := o.knownToolsets(ctx); err != nil {
		return err
	}
	if err := o.readRules(ctx); err != nil {
		return err
	}
	text, given, err := o.message()
	if err != nil {
		return err
	}
	if o.finite() && !given && !o.asked.prompt {
		return usage("nothing to answer: give a question with -q, or pipe text to standard input")
	}
	leave, err := o.enterWorktree(ctx)
	if err != nil {
		return err
	}
	defer leave()
	switch {
	case o.asked.prompt:
		return o.bare(ctx, text)
	case o.finite():
		return o.ask(ctx, text)
	}
	return o.runChat(ctx, text)
}

// enter makes the folder of the run the process's, and the other way round.
func (o *Options) enter() (err error) {
	if dir := o.Run.Workspace.Dir; dir != "" {
		if err := os.Chdir(dir); err != nil {
			return usage("--in: %w; name an existing folder", err)
		}
	}
	o.Run.Workspace.Dir, err = os.Getwd()
	return err
}

// knownToolsets refuses unknown names after -t.
func (o *Options) knownToolsets(ctx context.Context) error {
	if len(o.Run.Tools.Enabled) == 0 {
		return nil
	}
	known, _, err := o.App().Toolsets(o.Run)
	if err != nil {
		return nil // reported where it is needed
	}
	if _, unknown := known.Expand(ctx, o.Run.Tools.Enabled...); len(unknown) > 0 {
		return usage("unknown toolset or tool %q; list them with `hermes tools`", unknown[0])
	}
	return nil
}

// settle reads the arguments, which are the title of -c, and checks the flags.
func (o *Options) settle(args []string) error {
	if o.Continue == anySession && len(args) > 0 {
		o.Continue, args = strings.Join(args, " "), nil
	}
	if len(args) > 0 {
		near := ""
		if o.Suggest != nil {
			if names := o.Suggest(args[0]); len(names) > 0 {
				near = fmt.Sprintf(" (did you mean `hermes %s`?)", names[0])
			}
		}
		return usage("unknown command %q%s; to ask a question, run: hermes -z %q", args[0], near, strings.Join(args, " "))
	}
	if o.MaxTurns < 0 {
		return usage("--max-turns %d: use a positive number, or 0 for no limit", o.MaxTurns)
	}
	if o.Query != "" && o.QueryFile != "" {
		return usage("use -q or --query-file, not both")
	}
	if o.Resume != "" && o.asked.carryOn {
		return usage("use --resume or --continue, not both")
	}
	if o.asked.maxTurns {
		o.Run.Budget.Steps = cmp.Or(o.MaxTurns, -1)
	}
	if err := o.mode(); err != nil {
		return err
	}
	if err := o.cap(); err != nil {
		return err
	}
	return o.readOutput()
}

// finite reports whether to give one answer instead of a chat.
func (o *Options) finite() bool {
	return o.Oneshot || o.Quiet || o.Output.formed() || len(o.Images) > 0 || !factory.IsTerminal(o.In) || !factory.IsTerminal(o.Out)
}

// message is the first message: the text of the flag, the file or the prompt,
// followed by the piped input.
func (o *Options) message() (text string, given bool, err error) {
	text = o.Query
	if o.asked.prompt {
		text = o.Prompt
	}
	fromStdin := o.QueryFile == "-"
	if o.QueryFile != "" && !fromStdin {
		raw, err := os.ReadFile(o.QueryFile)
		if err != nil {
			return "", false, usage("--query-file: %w; name a readable text file, or - for standard input", err)
		}
		text = string(raw)
	}
	if (fromStdin || !factory.IsTerminal(o.In)) && o.In != nil {
		piped, err := io.ReadAll(io.LimitReader(o.In, maxPiped+1))
		if err != nil {
			return "", false, fmt.Errorf("read standard input: %w", err)
		}
		if len(piped) > maxPiped {
			return "", false, usage("standard input is larger than %d MB; save it to a file and mention the file instead", maxPiped>>20)
		}
		both := []string{text, strings.ToValidUTF8(string(piped), "\uFFFD")}
		text = strings.Join(slices.DeleteFunc(both, func(s string) bool { return strings.TrimSpace(s) == "" }), "\n\n")
	}
	return text, strings.TrimSpace(text) != "" || len(o.Images) > 0, nil
}

// maxPiped is how much is read from standard input, in bytes.
const maxPiped = 8 << 20

// notOpen words the error of opening a session for the command line.
func (o *Options) notOpen(err error, id string) error {
	if errors.Is(err, hermes.ErrNotFound) {
		return noSession(id)
	}
	if fixed, ok := errors.AsType[hermes.ErrFixed](err); ok {
		return refused(fixed)
	}
	return err
}

// noSession is the error of a reference to a session that does not exist.
type noSession string

func (e noSession) Error() string {
	return fmt.Sprintf("there is no session %q; list them with `hermes sessions list`", string(e))
}

// Is reports whether this is [hermes.ErrNotFound].
func (noSession) Is(target error) bool { return target == hermes.ErrNotFound }

// from is the frontend of the run.
func (o *Options) from(attends bool) hermes.From {
	pid := strconv.Itoa(os.Getpid())
	if attends {
		return hermes.From{Client: "terminal " + pid, Platform: "cli", Name: "terminal " + pid, Attends: true}
	}
	return hermes.From{Client: "oneshot " + pid, Platform: "oneshot", Name: "oneshot " + pid}
}

// refused says which options a session that is resumed cannot have.
func refused(fixed hermes.ErrFixed) error {
	names := map[string]string{
		"Workspace.Backend": "--backend", "Tools.Enabled": "--toolsets", "Prompt.Skills": "--skills", "Prompt.IgnoreRules": "--ignore-rules", "Prompt.PassSessionID": "--pass-session-id",
	}
	var options []string
	for _, part := range fixed.Parts {
		options = append(options, names[part])
	}
	these := strings.Join(options, " and ")
	return usage("%s: session %s keeps the tools, the prompt and the backend that it was started with; resume it without %s, or start a new session", these, fixed.Session, these)
}

// resume is the reference of the session to resume, or empty.
func (o *Options) resume(ctx context.Context) (string, error) {
	switch {
	case o.Resume != "" && o.Resume != "latest":
		return o.Resume, nil
	case o.asked.carryOn && o.Continue != anySession && o.Continue != "":
		return o.Continue, nil
	case o.Resume == "" && !o.asked.carryOn:
		return "", nil
	}
	store, err := o.Store(ctx)
	if err != nil {
		return "", err
	}
	row, err := session.Latest(ctx, store, o.Run.Workspace.Dir)
	return row.ID, err
}

func usage(format string, args ...any) error {
	return &app.ExitError{Status: 2, Err: wrongUse{fmt.Errorf(format, args...)}}
}

// wrongUse is the error of a wrong command line.
type wrongUse struct{ error }

func (e wrongUse) Unwrap() error { return e.error }
