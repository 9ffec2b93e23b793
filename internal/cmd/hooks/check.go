package hooks

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/text"
)

var (
	errWhich = errors.New("name the commands or hashes of hooks, as `hermes hooks list --json` shows them, or use --all")
	errNone  = errors.New("you have agreed to no such hook; `hermes hooks list` lists them")
)

// named reports whether a consent is one of those that the user names.
func named(o app.HookConsent, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return o.Line == name || len(name) >= 8 && strings.HasPrefix(o.Hash, strings.ToLower(name))
	})
}

// tried is one run as JSON.
type tried struct {
	Event   string  `json:"event"`
	Hook    string  `json:"hook"`
	Input   string  `json:"input,omitempty"`
	Verdict string  `json:"verdict"`
	Seconds float64 `json:"seconds"`
}

func (n noun) test() *cobra.Command {
	var asJSON bool
	var tool string
	cmd := factory.Verb("test EVENT", "Run the hooks of an event with a sample", "hermes hooks test PreToolUse --tool write_file", cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call) error {
		dir, err := n.Dir()
		if err != nil {
			return err
		}
		list, err := n.App().TryHooks(ctx, dir, c.Arg(0), tool)
		if err != nil {
			return err
		}
		if asJSON {
			all := make([]tried, len(list))
			for i, r := range list {
				all[i] = tried{r.Entry.Event, r.Entry.Line(), string(r.Input), verdict(r), r.Took.Seconds()}
			}
			return factory.WriteJSON(c.Out, all)
		}
		if len(list) == 0 {
			c.Say("No hook is configured for %s.", c.Arg(0))
			return nil
		}
		for _, r := range list {
			c.Say("%s", text.OneLine(text.Visible(r.Entry.Line()), 400))
			if len(r.Input) > 0 {
				c.Say("  reads    %s", text.Visible(string(r.Input)))
			}
			c.Say("  verdict  %s", text.Visible(verdict(r)))
			if r.Skipped == "" {
				c.Say("  time     %d ms", r.Took.Milliseconds())
			}
		}
		return nil
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().StringVar(&tool, "tool", "", "the `tool` of the sample, such as write_file")
	return cmd
}

func verdict(r app.HookRun) string {
	if r.Skipped != "" {
		return "not run: " + r.Skipped
	}
	return r.Verdict.String()
}

func (n noun) doctor() *cobra.Command {
	var run bool
	cmd := factory.Verb("doctor", "Say what is wrong with hooks", "hermes hooks doctor\n  hermes hooks doctor --run", cobra.NoArgs, func(ctx context.Context, c *factory.Call) error {
		list, dir, err := n.hooks()
		if err != nil {
			return err
		}
		tools, err := n.App().HookTools(ctx)
		if err != nil {
			return err
		}
		found := n.faults(list, dir, tools)
		if run {
			more, err := n.failures(ctx, list, dir)
			if err != nil {
				return err
			}
			found = append(found, more...)
		}
		for _, text := range found {
			c.Say("- %s", text)
		}
		if slices.ContainsFunc(list, func(h app.Hook) bool { return h.Event == "PreToolUse" && h.Matcher == "Bash" }) {
			c.Say("Note: a hook with the matcher Bash sees commands of the tool terminal only. Bash|execute_code|process sees scripts and input of running commands, too.")
		}
		if n.App().UpstreamHooks() {
			c.Say("Note: shell-hooks-allowlist.json has no hashes of scripts, so it agrees to nothing here. You are asked when a chat begins.")
		}
		if len(found) > 0 {
			return &app.ExitError{Status: 1, Err: fmt.Errorf("hooks have %s", text.Plural(len(found), "problem", "problems"))}
		}
		c.Say("%s configured, and nothing is wrong.", text.Plural(len(list), "hook is", "hooks are"))
		return nil
	})
	cmd.Flags().BoolVar(&run, "run", false, "also run each hook with a sample, and look at its answer")
	return cmd
}

// faults lists what is wrong with hooks, without running any.
func (n noun) faults(list []app.Hook, dir string, tools []string) (found []string) {
	say := func(format string, args ...any) {
		found = append(found, strings.TrimSuffix(text.Visible(fmt.Sprintf(format, args...)), "\n"))
	}
	for _, p := range n.App().HookProblems(dir) {
		say("%s %s; %s.", p.Key, p.Text, p.Served)
	}
	path := n.App().HookPath()
	for _, h := range list {
		line := text.OneLine(h.Line(), 200)
		switch h.State {
		case app.HookWaits:
			say("%s %s does not run: you have not agreed to it. You are asked when a chat begins.", h.Event, line)
		case app.HookChanged:
			say("%s %s does not run: %s changed since you agreed. You are asked when a chat begins.", h.Event, line, names(h.Changed, dir))
		case app.HookUntrusted:
			say("%s %s does not run: the project is not trusted, see `hermes trust show`.", h.Event, line)
		case app.HookBroken:
			say("%s %s does not run: %s.", h.Event, line, h.Why)
		}
		if why := h.Unmatched(tools); why != "" {
			say("%s %s: %s", h.Event, line, why)
		}
		if missing := h.Missing(h.Dir, n.App().UserHome(), path); len(missing) > 0 {
			say("%s %s: there is no program %s.", h.Event, line, strings.Join(missing, ", "))
		}
	}
	return found
}

// names are files as a reader in a folder knows them.
func names(paths []string, dir string) string {
	if len(paths) == 0 {
		return "what it runs"
	}
	short := make([]string, len(paths))
	for i, p := range paths {
		short[i] = p
		if rel, err := filepath.Rel(dir, p); err == nil && filepath.IsLocal(rel) {
			short[i] = rel
		}
	}
	return strings.Join(short, ", ")
}

// failures runs the hooks of all events once.
func (n noun) failures(ctx context.Context, list []app.Hook, dir string) (found []string, err error) {
	var events []string
	for _, h := range list {
		if !h.Webhook && !slices.Contains(events, h.Event) {
			events = append(events, h.Event)
		}
	}
	for _, event := range events {
		ran, err := n.App().TryHooks(ctx, dir, event, "")
		if err != nil {
			return nil, err
		}
		for _, r := range ran {
			if r.Skipped == "" && r.Verdict.Failed != nil {
				found = append(found, text.Visible(fmt.Sprintf("%s %s failed: %v.", event, text.OneLine(r.Entry.Line(), 200), r.Verdict.Failed)))
			}
		}
	}
	return found, nil
}
