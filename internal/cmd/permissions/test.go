package permissions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
	"hermes/internal/toolbox"
)

// sample is what the flags of `hermes permissions test` say about the session of the call.
type sample struct {
	_ [0]func() // it is never compared, which saves the code for it

	dir, platform, user, chat, model, read, arguments string
	mode                                              hermes.RightsMode
	unattended, asJSON                                bool
}

// test judges a call as the tool chain would, without running it.
func (n noun) test() *cobra.Command {
	var t sample
	cmd := factory.Verb("test 'TOOL: SUBJECT'", "Say what would become of a call, and which rule decides",
		"hermes permissions test 'terminal: rm -rf build'\n  hermes permissions test 'write_file: docs/a.md' --platform telegram --chat group",
		cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call) error {
			asked, err := t.call(c.Args[0])
			if err != nil {
				return err
			}
			v, err := n.App().Verdict(ctx, asked)
			if err != nil {
				return err
			}
			if t.asJSON {
				return factory.WriteJSON(c.Out, viewOf(v))
			}
			tell(c, v, !t.unattended)
			return nil
		})
	f := cmd.Flags()
	f.StringVar(&t.dir, "dir", "", "the `folder` of the session (default: this one)")
	f.StringVar(&t.platform, "platform", "cli", "the `platform` of the session")
	f.StringVar(&t.user, "user", "", "the `id` of the user on the platform")
	f.StringVar(&t.chat, "chat", "", "the `kind` of chat, such as private or group")
	f.StringVar(&t.model, "model", "", "the `model` of the session")
	f.StringVar(&t.read, "after-reading", "", "untrusted text, such as \"web_extract a page\", that the session has read")
	f.StringVar(&t.arguments, "arguments", "", "all arguments of the call as `JSON`, instead of a subject")
	f.BoolVar(&t.unattended, "unattended", false, "no user can be asked")
	f.StringVar((*string)(&t.mode), "mode", "", "the `mode` of the session: ask, plan, accept-edits or yolo (default: as configured)")
	f.BoolVar(&t.asJSON, "json", false, "print as JSON")
	return cmd
}

// call reads the call that is to be judged.
func (t sample) call(text string) (app.SampleCall, error) {
	tool, subject, _ := strings.Cut(text, ":")
	tool, subject = strings.TrimSpace(tool), strings.TrimSpace(subject)
	if tool == "" {
		return app.SampleCall{}, errors.New(`write the call as TOOL: SUBJECT, such as "terminal: rm -rf build"`)
	}
	if err := t.mode.Check(); err != nil {
		return app.SampleCall{}, fmt.Errorf("--mode: %w", err)
	}
	dir, err := filepath.Abs(cmp.Or(t.dir, "."))
	if err != nil {
		return app.SampleCall{}, err
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return app.SampleCall{}, fmt.Errorf("%s is not a folder", dir)
	}
	asked := app.SampleCall{
		Run: hermes.RunSpec{
			Origin: hermes.Origin{Platform: t.platform, User: t.user, Chat: t.chat}, Workspace: hermes.Workspace{Dir: dir}, Model: hermes.ModelChoice{Ref: t.model},
			Rights: hermes.Rights{Mode: t.mode},
		},
		Tool: tool, Subject: subject, Attended: !t.unattended, Provenance: t.read,
	}
	if t.arguments != "" {
		if subject != "" {
			return app.SampleCall{}, errors.New("give either a subject or --arguments")
		}
		if asked.Arguments = json.RawMessage(t.arguments); !json.Valid(asked.Arguments) {
			return app.SampleCall{}, errors.New("--arguments is not JSON")
		}
	}
	return asked, nil
}

// verdictView is a verdict as JSON.
type verdictView struct {
	Verdict toolbox.Outcome `json:"verdict"`
	Reason  string          `json:"reason,omitempty"`
	Rules   []string        `json:"rules,omitempty"`
	Risks   []hermes.Risk   `json:"risks,omitempty"`
	Open    []hermes.Risk   `json:"open,omitempty"` // those that the user is asked about
}

func viewOf(v toolbox.Verdict) verdictView {
	return verdictView{v.Outcome, v.Reason, v.By, v.Risks, v.Open}
}

// tell prints the verdict, and below it what decided.
func tell(c *factory.Call, v toolbox.Verdict, attended bool) {
	switch v.Outcome {
	case toolbox.Runs:
		c.Say("runs without asking")
	case toolbox.Asks:
		if attended {
			c.Say("asks")
		} else {
			c.Say("refused, unless a setting allows it where no user can be asked")
		}
	case toolbox.Forbidden:
		c.Say("never runs")
	case toolbox.Planned:
		c.Say("refused in plan mode")
	case toolbox.Mistaken:
		c.Say("is refused as it is")
	}
	if v.Reason != "" {
		c.Say("  because %s", markup.Visible(v.Reason))
	}
	for _, r := range v.Open {
		c.Say("  %s: %s", markup.Visible(r.Key), markup.Visible(r.Reason))
	}
	for _, by := range v.By {
		if v.Outcome != toolbox.Forbidden {
			c.Say("  rule: %s", markup.Visible(by))
		}
	}
	if v.Outcome == toolbox.Runs && len(v.By) == 0 {
		for _, r := range v.Risks {
			c.Say("  %s is allowed by the mode, the settings or a permission: %s", markup.Visible(r.Key), markup.Visible(r.Reason))
		}
		if len(v.Risks) == 0 {
			c.Say("  no rule is about it, and it has no risk")
		}
	}
}
