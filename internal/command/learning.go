package command

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"hermes"
	"hermes/internal/learning"
	"hermes/internal/text"
)

// Learnings is what /learning needs.
type Learnings interface {
	Find(ctx context.Context, q hermes.LearningQuery) ([]hermes.Learning, error)
	Get(ctx context.Context, ids ...int64) ([]hermes.Learning, error)
	Delete(ctx context.Context, by string, ids ...int64) ([]hermes.Learning, error)
	Merge(ctx context.Context, by string, ids ...int64) (hermes.Learning, error)
	Waiting() ([]string, error)
	Proposals() ([]learning.Proposal, error)
	Approve(ctx context.Context, id string) (saved hermes.Learning, replaced string, err error)
	Reject(id string) error
	Tidy(ctx context.Context, dry bool) (learning.Report, error)
}

const (
	learningUse = "use /learning, /learning search WORDS, /learning show ID, /learning delete ID…, /learning merge ID ID…, /learning merge, /learning pending, or /learning approve or reject ID|all; to add, export or import learnings, run `hermes learning` in the shell"
	// listed is how many learnings a list shows at most.
	listed = 20
)

func learned(ctx context.Context, c *Call) (Result, error) {
	if c.Learnings == nil {
		return Result{}, errors.New("learnings are not available here")
	}
	verb, rest, _ := strings.Cut(c.Args, " ")
	verb = strings.ToLower(verb)
	switch verb {
	case "", "list":
		return listLearnings(ctx, c.Learnings, "")
	case "search":
		if strings.TrimSpace(rest) != "" {
			return listLearnings(ctx, c.Learnings, rest)
		}
		return Result{}, errors.New(learningUse)
	}
	if r, done, err := decidePending(ctx, c.Learnings, verb, strings.TrimSpace(rest)); done {
		return r, err
	}
	ids, err := numbers(rest)
	if err != nil {
		return Result{}, err
	}
	switch {
	case verb == "show" && len(ids) > 0:
		return showLearnings(ctx, c.Learnings, ids)
	case verb == "delete" && len(ids) > 0:
		gone, err := c.Learnings.Delete(ctx, "person", ids...)
		if err != nil {
			return Result{}, err
		}
		return Result{Text: lines("Deleted", gone) + "\nTo undo this, run `hermes undo` in the shell."}, nil
	case verb == "merge" && len(ids) > 0:
		one, err := c.Learnings.Merge(ctx, "person", ids...)
		if err != nil {
			return Result{}, err
		}
		return Result{Text: lines("Merged into", []hermes.Learning{one})}, nil
	case verb == "merge":
		return tidyLearnings(ctx, c.Learnings)
	}
	return Result{}, errors.New(learningUse)
}

// decidePending lists, approves and rejects what waits. done is false for other verbs.
func decidePending(ctx context.Context, b Learnings, verb, rest string) (r Result, done bool, err error) {
	w := pendingChanges{noun: "learning", use: learningUse, ids: b.Waiting}
	switch verb {
	case "pending":
		list, err := b.Proposals()
		if err != nil || len(list) == 0 {
			return w.empty(), true, err
		}
		var out strings.Builder
		for _, p := range list {
			fmt.Fprintf(&out, "- %s, %s\n  %s\n", code(p.ID), p.At.Local().Format("2006-01-02 15:04"), strings.ReplaceAll(plain(p.Describe()), "\n", "\n  "))
		}
		return Result{Text: out.String()}, true, nil
	case "approve":
		r, err = w.decide(rest, func(id string) (string, error) {
			saved, replaced, err := b.Approve(ctx, id)
			text := fmt.Sprintf("Saved %s as %d: %s", code(id), saved.ID, plain(learning.Line(saved)))
			if replaced != "" {
				text += fmt.Sprintf("\nThis replaces the fix %q.", plain(replaced))
			}
			return text, err
		})
		return r, true, err
	case "reject":
		r, err = w.decide(rest, drop(b.Reject))
		return r, true, err
	}
	return Result{}, false, nil
}

func numbers(text string) ([]int64, error) {
	var ids []int64
	for _, w := range strings.Fields(text) {
		id, err := strconv.ParseInt(strings.TrimPrefix(w, "#"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not the number of a learning; use /learning to list them", w)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func listLearnings(ctx context.Context, b Learnings, words string) (Result, error) {
	list, err := b.Find(ctx, hermes.LearningQuery{Text: words, Known: words == "", Limit: listed + 1})
	if err != nil {
		return Result{}, err
	}
	if len(list) == 0 && words != "" {
		return Result{Text: "No learnings match."}, nil
	}
	if len(list) == 0 {
		return Result{Text: "No learnings yet. When the agent fixes an error, it saves the fix with the learning tool."}, nil
	}
	text := lines("", list[:min(len(list), listed)])
	if len(list) > listed {
		text += "\nThere are more. Find them with `/learning search WORDS`."
	}
	return Result{Text: text}, nil
}

// lines lists learnings, one per line.
func lines(head string, list []hermes.Learning) string {
	var b strings.Builder
	for _, l := range list {
		b.WriteString("- ")
		if head != "" {
			b.WriteString(head + " ")
		}
		fmt.Fprintf(&b, "%d: %s", l.ID, plain(learning.Line(l)))
		if l.Shown > 0 {
			fmt.Fprintf(&b, " (seen %d, helped %d, failed %d)", l.Seen, l.Helped, l.Failed)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func showLearnings(ctx context.Context, b Learnings, ids []int64) (Result, error) {
	list, err := b.Get(ctx, ids...)
	if err != nil {
		return Result{}, err
	}
	var out strings.Builder
	for _, l := range list {
		fmt.Fprintf(&out, "**%d** %s, %s\n\n- error: %s\n", l.ID, plain(l.Tool), plain(l.Class), plain(l.Pattern))
		for _, part := range [][2]string{{"fix", l.Fix}, {"context", l.Context}, {"tags", strings.Join(l.Tags, ", ")}, {"session", l.Session}, {"after reading", l.Provenance}} {
			if part[1] != "" {
				fmt.Fprintf(&out, "- %s: %s\n", part[0], strings.ReplaceAll(plain(part[1]), "\n", "\n  "))
			}
		}
		fmt.Fprintf(&out, "- seen %s, last %s; shown %d, helped %d, failed %d\n\n", text.Plural(int(l.Seen), "time", "times"), l.Touched.Local().Format("2006-01-02 15:04"), l.Shown, l.Helped, l.Failed)
	}
	return Result{Text: out.String()}, nil
}

func tidyLearnings(ctx context.Context, b Learnings) (Result, error) {
	r, err := b.Tidy(ctx, false)
	var out strings.Builder
	for _, g := range r.Merged {
		fmt.Fprintf(&out, "- merged %d: %s\n", len(g), plain(learning.Line(g[0])))
	}
	for _, gone := range r.Retired {
		fmt.Fprintf(&out, "- retired (%s): %s\n", gone.Why, plain(learning.Line(gone.Learning)))
	}
	if out.Len() == 0 && err == nil {
		return Result{Text: "Nothing to merge or retire."}, nil
	}
	return Result{Text: out.String()}, err
}
