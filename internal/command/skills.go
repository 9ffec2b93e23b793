package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/session"
	"hermes/internal/skill"
)

// Skills is what /skills needs, and what calls skills by name.
type Skills interface {
	List(ctx context.Context) ([]hermes.Skill, error)
	View(ctx context.Context, name, file string) (hermes.SkillText, error)
	// Call returns the message of a line that starts with names of skills; ok is
	// false for any other line. dir is the session's folder.
	Call(ctx context.Context, dir, line string) (parts []hermes.Part, ok bool, err error)
	Proposals() ([]skill.Pending, error)
	Waiting() ([]string, error)
	Diff(id string) (string, error)
	Approve(ctx context.Context, id string) (hermes.SkillOutcome, error)
	Reject(id string) error
	Approval() bool
	SetApproval(ctx context.Context, on bool) error
}

const skillsUse = "use /skills, /skills view NAME, /skills pending, /skills diff ID, /skills approve ID|all, /skills reject ID|all, or /skills approval on|off; to search or install skills, run `hermes skills` in the shell"

func skills(ctx context.Context, c *Call) (Result, error) {
	if c.Skills == nil {
		return Result{}, errors.New("skills are not available here")
	}
	verb, rest, _ := strings.Cut(c.Args, " ")
	rest = strings.TrimSpace(rest)
	w := pendingSkillChanges(c.Skills)
	switch strings.ToLower(verb) {
	case "", "list":
		return listSkills(ctx, c.Skills, rest, w)
	case "view", "show", "inspect":
		return viewSkill(ctx, c.Skills, rest)
	case "pending":
		return pendingSkills(c.Skills, w)
	case "diff":
		diff, err := c.Skills.Diff(rest)
		return Result{Text: "```diff\n" + diff + "```"}, err
	case "approve":
		return w.decide(rest, func(id string) (string, error) {
			out, err := c.Skills.Approve(ctx, id)
			return fmt.Sprintf("Applied %s: %s", code(id), code(out.Path)), err
		})
	case "reject":
		return w.decide(rest, drop(c.Skills.Reject))
	case "approval":
		return w.switched(ctx, rest)
	}
	return Result{}, errors.New(skillsUse)
}

func pendingSkillChanges(s Skills) pendingChanges {
	return pendingChanges{
		noun: "skills", use: skillsUse, ids: s.Waiting, approval: s.Approval, set: s.SetApproval,
		on:  "Skill changes by the agent need your approval.",
		off: "The agent changes its own skills without asking. Changes to other skills need your approval.",
	}
}

func listSkills(ctx context.Context, s Skills, category string, w pendingChanges) (Result, error) {
	all, err := s.List(ctx)
	if err != nil {
		return Result{}, err
	}
	var b strings.Builder
	last := "-"
	for _, k := range all {
		if category != "" && !strings.EqualFold(category, k.Category) {
			continue
		}
		if k.Category != last {
			last = k.Category
			heading := last
			if heading == "" {
				heading = "other"
			}
			fmt.Fprintf(&b, "\n**%s**\n\n", heading)
		}
		fmt.Fprintf(&b, "- `/%s` %s", k.Name, plain(skill.Short(k.Description)))
		if k.Source != hermes.SkillBundled {
			fmt.Fprintf(&b, " (%s)", k.Source)
		}
		b.WriteByte('\n')
	}
	if ids, err := w.ids(); err == nil {
		b.WriteString(w.hint(len(ids)))
	}
	if b.Len() == 0 {
		return Result{Text: "No skills found."}, nil
	}
	return Result{Text: strings.TrimLeft(b.String(), "\n")}, nil
}

func viewSkill(ctx context.Context, s Skills, name string) (Result, error) {
	if name == "" {
		return Result{}, errors.New(skillsUse)
	}
	t, err := s.View(ctx, strings.ToLower(name), "")
	if err != nil {
		return Result{}, err
	}
	return Result{Text: fmt.Sprintf("**%s** (%s)\n\n```markdown\n%s\n```\n%s", plain(t.Skill.Name), t.Skill.Source, strings.TrimSpace(t.Content), plain(t.Notes()))}, nil
}

func pendingSkills(s Skills, w pendingChanges) (Result, error) {
	list, err := s.Proposals()
	if err != nil {
		return Result{}, err
	}
	if len(list) == 0 {
		return w.empty(), nil
	}
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "- %s %s", code(p.ID), plain(p.What()))
		if why := p.Why(); why != "" {
			fmt.Fprintf(&b, " (%s)", plain(why))
		}
		if o := p.Provenance(); o != "" {
			fmt.Fprintf(&b, " (proposed after reading %s)", plain(o))
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nShow one with `/skills diff ID`, approve it with `/skills approve ID`, reject it with `/skills reject ID`. Use `all` for all of them.")
	return Result{Text: b.String()}, nil
}

// learnText is what /learn asks the model.
const learnText = "[The user asks you to make a skill.] Find out how the task below is done: from the named folder, file, page or book, or else from this conversation. " +
	"Read before you write, and try the commands where that is safe. Then check with skills_list whether a skill covers it: patch that one, else create one with skill_manage. " +
	"It must say when it applies, the steps with exact commands, the pitfalls you met, and how to verify the outcome; details go to references/. Summarize it in three lines.\n\nWhat to learn: "

func learn(_ context.Context, c *Call) (Result, error) {
	what := c.Args
	if what == "" {
		what = "what was done in this conversation"
	}
	return Result{Message: []hermes.Part{{Text: learnText + what, Hidden: true}, {Text: strings.TrimSpace("/learn " + c.Args)}}}, nil
}

// refineText is what /refine asks the model.
const refineText = "[The user asks for a review of this conversation, for what to keep.] Look at what was corrected, what failed before it worked, and what the user prefers. " +
	"Durable facts go to memory; procedures go to skills: patch the skill that was used where it was wrong, create one only for what will recur. Keep nothing that is stale in a week. If nothing is worth keeping, say so. Say in a few lines what you kept."

// refine reviews the session in the background. Without a background review it
// asks the session's own model.
func refine(ctx context.Context, c *Call) (Result, error) {
	err := c.Session.Submit(ctx, hermes.StartReview{Focus: c.Args})
	if err == nil {
		return Result{Text: "Reviewing this conversation in the background. You will see the result."}, nil
	}
	if !errors.Is(err, session.ErrNoReview) {
		return Result{}, err
	}
	text := refineText
	if c.Args != "" {
		text += " Focus on: " + c.Args
	}
	return Result{Message: []hermes.Part{{Text: text, Hidden: true}, {Text: strings.TrimSpace("/refine " + c.Args)}}}, nil
}

// called returns the message of a line that starts with names of skills.
func called(ctx context.Context, line string, c *Call) (Result, bool, error) {
	if c.Skills == nil {
		return Result{}, false, nil
	}
	var dir string
	if c.Session != nil {
		if st, err := c.Session.State(ctx); err == nil {
			dir = st.Row.Dir
		}
	}
	parts, ok, err := c.Skills.Call(ctx, dir, line)
	if !ok || err != nil {
		return Result{}, false, err
	}
	return Result{Message: parts}, true, nil
}
