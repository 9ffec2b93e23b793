package command

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"hermes"
	"hermes/internal/text"
)

func newSession(ctx context.Context, c *Call) (Result, error) {
	return begin(ctx, c, hermes.ActionNew, "Start a new session? This one is saved and can be resumed.")
}

func clearSession(ctx context.Context, c *Call) (Result, error) {
	return begin(ctx, c, hermes.ActionClear, "Clear the screen and start a new session? This one is saved and can be resumed.")
}

func begin(ctx context.Context, c *Call, action hermes.CommandAction, question string) (Result, error) {
	agreed := c.agreed()
	st, err := c.Session.State(ctx)
	if err != nil && !errors.Is(err, hermes.ErrClosed) {
		return Result{}, err
	}
	if !agreed && len(st.Transcript) > 0 {
		return Result{Confirm: question}, nil
	}
	return Result{Action: action, Arg: c.Args}, nil
}

func title(ctx context.Context, c *Call) (Result, error) {
	if c.Args == "" {
		st, err := c.Session.State(ctx)
		if err != nil {
			return Result{}, err
		}
		if st.Row.Title == "" {
			return Result{Text: "The session has no title yet. Set one with `/title NAME`."}, nil
		}
		return Result{Text: "Title: " + plain(st.Row.Title)}, nil
	}
	err := c.Session.Submit(ctx, hermes.SetTitle{Title: c.Args})
	if errors.Is(err, hermes.ErrTitleTaken) {
		return Result{}, fmt.Errorf("another session has the title %q; choose another", c.Args)
	}
	if err != nil {
		return Result{}, err
	}
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	return Result{Text: "Title: " + plain(st.Row.Title)}, nil
}

func history(ctx context.Context, c *Call) (Result, error) {
	n, err := count(c.Args, 0)
	if err != nil {
		return Result{}, err
	}
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	var b strings.Builder
	shown := spoken(st.Transcript)
	if n > 0 && len(shown) > n {
		shown = shown[len(shown)-n:]
	}
	for _, m := range shown {
		who := "You"
		if m.Role == hermes.RoleAssistant {
			who = "Hermes"
		}
		fmt.Fprintf(&b, "**%s**\n\n%s\n\n", who, m.Visible())
	}
	if b.Len() == 0 {
		return Result{Text: "No messages yet."}, nil
	}
	return Result{Text: b.String()}, nil
}

// spoken filters the messages with text of the user or the model.
func spoken(transcript []hermes.Message) []hermes.Message {
	var out []hermes.Message
	for _, m := range transcript {
		if m.Role != hermes.RoleTool && !m.Synthetic && m.Visible() != "" {
			out = append(out, m)
		}
	}
	return out
}

func copyAnswer(ctx context.Context, c *Call) (Result, error) {
	n, err := count(c.Args, 1)
	if err != nil {
		return Result{}, err
	}
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	shown := spoken(st.Transcript)
	for i := len(shown) - 1; i >= 0; i-- {
		if shown[i].Role != hermes.RoleAssistant {
			continue
		}
		if n--; n == 0 {
			return Result{Text: "Copied.", Action: hermes.ActionCopy, Arg: shown[i].Visible()}, nil
		}
	}
	return Result{}, errors.New("no such answer to copy")
}

func retry(ctx context.Context, c *Call) (Result, error) {
	return Result{}, c.Session.Submit(ctx, hermes.Retry{})
}

func undo(ctx context.Context, c *Call) (Result, error) {
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	var last string
	for _, m := range st.Transcript {
		if m.Role == hermes.RoleUser && !m.Synthetic {
			last = m.Visible()
		}
	}
	if !c.agreed() && c.Where == Terminal && last != "" && !st.Running {
		return Result{Confirm: "Undo the last exchange, starting at “" + text.Line(last, 60) + "”? Files are not changed."}, nil
	}
	if err := c.Session.Submit(ctx, hermes.Undo{}); err != nil {
		return Result{}, err
	}
	return Result{Text: "Removed the last exchange."}, nil
}

func goOn(ctx context.Context, c *Call) (Result, error) {
	return Result{}, c.Session.Submit(ctx, hermes.Continue{})
}

func queue(ctx context.Context, c *Call) (Result, error) {
	if c.Args == "" {
		return Result{}, errors.New("add a message: /queue PROMPT")
	}
	return Result{}, c.Session.Submit(ctx, hermes.Say{Parts: hermes.UserText(c.Args).Parts, Busy: hermes.BusyQueue})
}

func steer(ctx context.Context, c *Call) (Result, error) {
	if c.Args == "" {
		return Result{}, errors.New("add a message: /steer PROMPT")
	}
	return Result{}, c.Session.Submit(ctx, hermes.Steer{Text: c.Args})
}

func stop(ctx context.Context, c *Call) (Result, error) {
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := c.Session.Submit(ctx, hermes.Stop{Processes: true}); err != nil {
		return Result{}, err
	}
	if st.Running {
		return Result{}, nil // the end of the turn reports it
	}
	return Result{Text: "Stopped the background processes."}, nil
}

func redraw(context.Context, *Call) (Result, error) { return Result{Action: hermes.ActionRedraw}, nil }

func quit(context.Context, *Call) (Result, error) { return Result{Action: hermes.ActionQuit}, nil }

func count(arg string, otherwise int) (int, error) {
	if arg == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not a whole number of 1 or more", arg)
	}
	return n, nil
}

// plain keeps a text from being read as Markdown.
func plain(s string) string { return escaper.Replace(s) }

var escaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "<", `\<`, "#", `\#`, "&", `\&`, "|", `\|`, "~", `\~`)

// keptHere is how many exchanges /compress here keeps unchanged.
const keptHere = 2

// compress shortens the conversation now. The session reports its start and its
// outcome.
func compress(ctx context.Context, c *Call) (Result, error) {
	op, err := readCompress(c.Args)
	if err != nil {
		return Result{}, err
	}
	return Result{}, c.Session.Submit(ctx, op)
}

// readCompress reads "", "here", "here 3" or a topic.
func readCompress(args string) (hermes.Compress, error) {
	word, rest, _ := strings.Cut(args, " ")
	if !strings.EqualFold(word, "here") {
		return hermes.Compress{Topic: args}, nil
	}
	rest = strings.TrimSpace(rest)
	if rest == "" {
		return hermes.Compress{Keep: keptHere}, nil
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n < 1 {
		return hermes.Compress{}, fmt.Errorf("%q is not a number of exchanges; use /compress here 2 or /compress TOPIC", rest)
	}
	return hermes.Compress{Keep: n}, nil
}
