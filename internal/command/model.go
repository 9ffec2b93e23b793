package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/chooser"
)

// Settings saves what commands keep for later sessions.
type Settings struct {
	// Save writes one value of the configuration and returns where. Nil means
	// that nothing can be saved.
	Save func(ctx context.Context, key, value string) (where string, err error)
	// KeepModel makes /model change the default too, unless a flag says otherwise.
	KeepModel bool
}

// switching is the parsed arguments of /model.
type switching struct {
	ref                    string
	once, global, thisOnly bool
}

const modelUse = "Change it with `/model PROVIDER:MODEL`. Add `--once` for the next turn only, or `--global` for new sessions too."

func readSwitching(args string) (switching, error) {
	var s switching
	var provider string
	fields := strings.Fields(args)
	for i := 0; i < len(fields); i++ {
		switch f := fields[i]; {
		case f == "--once":
			s.once = true
		case f == "--global":
			s.global = true
		case f == "--session":
			s.thisOnly = true
		case f == "--refresh": // lists are always read again
		case f == "--provider" && i+1 < len(fields):
			i++
			provider = fields[i]
		case strings.HasPrefix(f, "--provider="):
			provider = strings.TrimPrefix(f, "--provider=")
		case strings.HasPrefix(f, "-"):
			return s, fmt.Errorf("unknown flag %s for /model; use --once, --global, --session, --refresh or --provider NAME", f)
		case s.ref != "":
			return s, fmt.Errorf("/model takes one model; remove %q", f)
		default:
			s.ref = f
		}
	}
	if s.once && s.global {
		return s, errors.New("--once and --global cannot be combined; choose one")
	}
	if provider != "" {
		s.ref = provider + ":" + s.ref
	}
	if s.ref == "" && (s.once || s.global) {
		return s, errors.New("name a model: /model PROVIDER:MODEL --once")
	}
	return s, nil
}

func model(ctx context.Context, c *Call) (Result, error) {
	s, err := readSwitching(c.Args)
	if err != nil {
		return Result{}, err
	}
	if s.ref == "" {
		return showModel(ctx, c)
	}
	keep := s.global || c.Settings.KeepModel && !s.once && !s.thisOnly
	if keep && c.Settings.Save == nil {
		return Result{}, errors.New("the default cannot be changed here; omit --global to change only this session")
	}
	if err := switchTo(ctx, c, s); err != nil {
		return Result{}, err
	}
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	if s.once {
		return Result{Text: "The next turn uses " + code(st.Next) + ", later turns use " + orDefault(st.Row.Model) + " again."}, nil
	}
	text := "This session now uses " + code(st.Row.Model) + "."
	if len(st.Transcript) > 0 {
		text += " The conversation is not in that model's cache, so the next request pays for all of it."
	}
	if !keep {
		return Result{Text: text}, nil
	}
	where, err := c.Settings.Save(ctx, "model.default", st.Row.Model)
	if err != nil {
		return Result{}, fmt.Errorf("this session uses %s, but the default could not be changed: %w", st.Row.Model, err)
	}
	return Result{Text: text + " New sessions use it too (" + code(where) + ")."}, nil
}

// switchTo changes the model. An unknown name is matched against the available
// models: a single match is used, several are listed in the error.
func switchTo(ctx context.Context, c *Call, s switching) error {
	err := c.Session.Submit(ctx, hermes.SetModel{Ref: s.ref, Once: s.once})
	if !errors.Is(err, hermes.ErrNoModel) || c.Models == nil {
		return err
	}
	list, listErr := c.Models(ctx)
	if listErr != nil {
		return err
	}
	switch fit := chooser.Match(list, s.ref); len(fit) {
	case 0:
		return err
	case 1:
		return c.Session.Submit(ctx, hermes.SetModel{Ref: list[fit[0]], Once: s.once})
	default:
		var names []string
		for _, i := range fit[:min(len(fit), 5)] {
			names = append(names, code(list[i]))
		}
		return fmt.Errorf("no model named %q; %d match it: %s", s.ref, len(fit), strings.Join(names, ", "))
	}
}

func orDefault(ref string) string {
	if ref == "" {
		return "the default model"
	}
	return code(ref)
}

func showModel(ctx context.Context, c *Call) (Result, error) {
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	text := "Model: " + code(st.Row.Model)
	if st.Row.Model == "" {
		text = "No model chosen yet; the default is used."
	}
	if st.Next != "" {
		text += " The next turn uses " + code(st.Next) + "."
	}
	if c.Models == nil {
		return Result{Text: text + "\n\n" + modelUse}, nil
	}
	list, err := c.Models(ctx)
	if err != nil {
		return Result{Text: text + "\n\nCould not list the models: " + plain(err.Error())}, nil
	}
	var b strings.Builder
	b.WriteString(text + "\n\n")
	const most = 40
	for i, ref := range list {
		if i == most {
			fmt.Fprintf(&b, "- and %d more\n", len(list)-most)
			break
		}
		fmt.Fprintf(&b, "- %s\n", code(ref))
	}
	b.WriteString("\n" + modelUse)
	return Result{Text: b.String()}, nil
}

// reasoning shows or sets how hard the model thinks.
func reasoning(ctx context.Context, c *Call) (Result, error) {
	word, global := strings.CutSuffix(strings.TrimSpace(c.Args), "--global")
	switch word = strings.ToLower(strings.TrimSpace(word)); word {
	case "":
		return showEffort(ctx, c)
	case "show", "full":
		return Result{Text: "Thinking is shown.", Action: hermes.ActionThinking, Arg: "show"}, nil
	case "hide", "clamp":
		return Result{Text: "Thinking is hidden.", Action: hermes.ActionThinking, Arg: "hide"}, nil
	case "default", "reset":
		if err := c.Session.Submit(ctx, hermes.SetEffort{}); err != nil {
			return Result{}, err
		}
		return showEffort(ctx, c)
	}
	effort, ok := hermes.ParseEffort(word)
	if !ok {
		return Result{}, fmt.Errorf("unknown reasoning level %q; use one of %s", word, levels())
	}
	if global && c.Settings.Save == nil {
		return Result{}, errors.New("the default cannot be changed here; omit --global to change only this session")
	}
	if err := c.Session.Submit(ctx, hermes.SetEffort{Effort: effort}); err != nil {
		return Result{}, err
	}
	text := "Reasoning effort is " + code(string(effort)) + " from the next turn on, if the model supports it."
	if !global {
		return Result{Text: text}, nil
	}
	where, err := c.Settings.Save(ctx, "agent.reasoning_effort", string(effort))
	if err != nil {
		return Result{}, fmt.Errorf("this session uses reasoning effort %s, but the default could not be changed: %w", effort, err)
	}
	return Result{Text: text + " New sessions use it too (" + code(where) + ")."}, nil
}

func showEffort(ctx context.Context, c *Call) (Result, error) {
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	text := "Reasoning effort: the model's default."
	if st.Effort != "" {
		text = "Reasoning effort: " + code(string(st.Effort)) + "."
	}
	return Result{Text: text + "\n\nSet it with `/reasoning LEVEL`: " + levels() + ". `show` and `hide` show and hide the thinking."}, nil
}

func levels() string {
	var words []string
	for _, e := range hermes.Efforts() {
		words = append(words, string(e))
	}
	return strings.Join(words, ", ")
}
