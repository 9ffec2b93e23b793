package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes/internal/checkpoint"
	"hermes/internal/text"
)

// How much of a diff is shown in a chat.
const (
	mostDiffLines = 300
	mostDiffBytes = 24 << 10
)

// diff shows what changed: by the session, or what git knows.
func diff(ctx context.Context, c *Call) (Result, error) {
	r := rolling{Call: c}
	stat := false
	for _, w := range strings.Fields(c.Args) {
		switch {
		case w == "--stat":
			stat = true
		case strings.HasPrefix(w, "--"):
			return Result{}, fmt.Errorf("unknown option %q; use /diff [session|staged|all] [--stat] [PATH...]", w)
		default:
			r.words = append(r.words, w)
		}
	}
	switch what := first(r.words); what {
	case "staged", "all":
		return gitDiff(ctx, c, what == "staged", stat, r.words[1:])
	case "session":
		r.words = r.words[1:]
	}
	if err := r.open(ctx); err != nil {
		return Result{}, err
	}
	var paths []string
	for _, w := range r.words {
		rel, err := r.inFolder(ctx, w)
		if err != nil {
			return Result{}, err
		}
		paths = append(paths, rel)
	}
	i := -1
	for n, s := range r.folder.Snapshots {
		if i < 0 && r.ours(ctx, s) {
			i = n
		}
	}
	if i < 0 {
		return Result{Text: "No checkpoint of this session, so nothing is known to have changed. See what git knows with `/diff all`."}, nil
	}
	snap := r.folder.Snapshots[i]
	changes, err := r.store.Diff(ctx, r.folder.Folder, snap.ID, "", paths)
	if err != nil {
		return Result{}, err
	}
	head := fmt.Sprintf("Changes in %s since the session's first checkpoint (%d, %s), by you and the agent", code(text.VisibleName(r.folder.Folder)), snap.Number, stamp(snap.Time))
	more := "hermes diff --session " + c.Session.ID()
	if r.away {
		more = fmt.Sprintf("hermes checkpoints diff %d --session %s", snap.Number, c.Session.ID())
	}
	return Result{Text: shownChanges(head, changes, stat, more)}, nil
}

// ours reports whether this session or a child of it made a snapshot.
func (r *rolling) ours(ctx context.Context, s checkpoint.Snapshot) bool {
	if s.Session == r.Session.ID() {
		return true
	}
	kin, err := r.kin(ctx, s)
	return err == nil && kin && !s.Time.Before(r.state.Row.Started)
}

// shownChanges is a list of changes with its totals, and the diff unless only those are wanted.
func shownChanges(head string, changes []checkpoint.Change, statOnly bool, more string) string {
	if len(changes) == 0 {
		return "No changes. " + head + "."
	}
	var b strings.Builder
	added, removed := 0, 0
	fmt.Fprintf(&b, "%s:\n\n", head)
	for i, ch := range changes {
		plus, minus := ch.Lines()
		added, removed = added+plus, removed+minus
		if i < mostPaths {
			fmt.Fprintf(&b, "- %s %s (+%d −%d)\n", ch.What(), code(text.VisibleName(ch.Path)), plus, minus)
		}
	}
	if n := len(changes) - mostPaths; n > 0 {
		fmt.Fprintf(&b, "- and %d more\n", n)
	}
	fmt.Fprintf(&b, "\n%s, %s added, %s removed\n", text.Plural(len(changes), "path", "paths"), text.Plural(added, "line", "lines"), text.Plural(removed, "line", "lines"))
	if statOnly {
		return b.String()
	}
	var all strings.Builder
	for _, ch := range changes {
		if all.Len() > mostDiffBytes {
			break
		}
		all.WriteString(ch.Text)
	}
	b.WriteString("\n" + diffBlock(all.String(), more))
	return b.String()
}

// diffBlock is a diff as a code block, bounded. more is the command line that shows all of it.
func diffBlock(diff, more string) string {
	lines := strings.SplitAfter(text.Visible(diff), "\n")
	size, n := 0, 0
	for n < len(lines) && n < mostDiffLines && size+len(lines[n]) <= mostDiffBytes {
		size += len(lines[n])
		n++
	}
	shown := strings.Join(lines[:n], "")
	fence := "```"
	for strings.Contains(shown, fence) {
		fence += "`"
	}
	out := fence + "diff\n" + strings.TrimSuffix(shown, "\n") + "\n" + fence + "\n"
	if n < len(lines) && slices.ContainsFunc(lines[n:], func(l string) bool { return l != "" }) {
		out += "\nThe diff is longer. See all of it with " + code(more) + "\n"
	}
	return out
}

// gitDiff shows what is staged, or all that differs from the last commit.
func gitDiff(ctx context.Context, c *Call, staged, stat bool, paths []string) (Result, error) {
	if c.GitDiff == nil {
		return Result{}, errors.New("git is not available here; use /diff for the changes of the session")
	}
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	if st.Row.Run.Workspace.Elsewhere() {
		return Result{}, errors.New("this session works in another place than this machine; ask the agent for its git diff")
	}
	out, err := c.GitDiff(ctx, st.Row.Dir, staged, stat, paths)
	if err != nil {
		return Result{}, err
	}
	what, more := "all", "hermes diff all"
	if staged {
		what, more = "staged", "hermes diff staged"
	}
	if out == "" {
		return Result{Text: "Git has no changes (" + what + ")."}, nil
	}
	return Result{Text: diffBlock(out, more)}, nil
}
