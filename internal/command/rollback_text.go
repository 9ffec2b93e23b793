package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/text"
)

// How much of a rollback is shown.
const (
	mostPaths    = 30
	mostMessages = 8
	excerptSize  = 60 // cells of a message
)

func question(plan checkpoint.Plan, gone since) string {
	var parts []string
	if n := len(plan.Steps); n > 0 {
		parts = append(parts, "restore "+text.Plural(n, "path", "paths"))
	}
	if n := len(gone.list); n > 0 {
		parts = append(parts, "remove "+text.Plural(n, "message", "messages")+" from the conversation")
	}
	if n := len(gone.back); n > 0 {
		parts = append(parts, "bring back "+text.Plural(n, "message", "messages"))
	}
	q := strings.Join(parts, " and ")
	return strings.ToUpper(q[:min(len(q), 1)]) + q[min(len(q), 1):] + "?"
}

// text says what would happen to files and messages.
func (p preview) text() string {
	var b strings.Builder
	snap := p.plan.Snapshot
	fmt.Fprintf(&b, "**%s checkpoint %d**, %s, %s\n", p.verb, snap.Number, stamp(snap.Time), about(snap))
	paths := func(title string, n int, line func(i int) string) {
		if n == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s\n\n", title)
		for i := range min(n, mostPaths) {
			b.WriteString("- " + line(i) + "\n")
		}
		if n > mostPaths {
			fmt.Fprintf(&b, "- and %d more\n", n-mostPaths)
		}
	}
	paths("Files that change:", len(p.plan.Steps), func(i int) string { return step(p.plan.Steps[i]) })
	paths("Conflicts, which stay as they are:", len(p.plan.Conflicts), func(i int) string {
		k := p.plan.Conflicts[i]
		return code(text.VisibleName(k.Path)) + ": " + plain(text.Visible(k.Why))
	})
	paths("Your own changes, which stay:", len(p.plan.Yours), func(i int) string {
		return code(text.VisibleName(p.plan.Yours[i].Path))
	})
	if left := leftOut(snap); left != "" && !p.file {
		b.WriteString("\nNot in the checkpoint: " + left + "\n")
	}
	switch {
	case p.file:
		b.WriteString("\nThe messages stay.\n")
	case p.branch:
		b.WriteString("\nThis session keeps its messages.\n")
	case !p.gone.any():
		fmt.Fprintf(&b, "\nThe messages stay: %s.\n", p.gone.stays)
	default:
		title := "Removed from the conversation"
		if p.gone.keep {
			title += ", and kept in a copy of this session"
		}
		writeMessages(&b, title, p.gone.list)
		writeMessages(&b, "Back in the conversation, since a rollback removed them", p.gone.back)
	}
	if len(p.plan.Steps) > 0 && !p.file {
		fmt.Fprintf(&b, "\nSee what changed with %s\n", code(fmt.Sprint("/rollback diff ", snap.Number)))
	}
	return b.String()
}

// writeMessages lists what the user said in messages, if there are any.
func writeMessages(b *strings.Builder, title string, list []hermes.Message) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s (%s):\n\n", title, text.Plural(len(list), "message", "messages"))
	said := slices.DeleteFunc(slices.Clone(list), func(m hermes.Message) bool { return m.Role != hermes.RoleUser })
	for _, m := range said[:min(len(said), mostMessages)] {
		b.WriteString("- " + excerpt(m) + ", with what followed\n")
	}
	if n := len(said) - mostMessages; n > 0 {
		fmt.Fprintf(b, "- and %s\n", text.Plural(n, "more exchange", "more exchanges"))
	}
}

// step says what happens to a path.
func step(st checkpoint.Step) string {
	name := code(text.VisibleName(st.Path))
	switch {
	case st.To.Kind == checkpoint.None:
		return name + " is removed"
	case st.From.Kind == checkpoint.None:
		return name + " comes back"
	case st.Merged:
		return name + " gets the agent's changes undone, yours stay"
	}
	return name + " becomes what it was"
}

// leftOut counts what is not in a snapshot.
func leftOut(s checkpoint.Snapshot) string {
	var parts []string
	for _, o := range s.LeftOut {
		if o.Why == checkpoint.Repository.String() {
			continue
		}
		name := ""
		if len(o.First) > 0 {
			name = ", such as " + code(text.VisibleName(o.First[0]))
		}
		parts = append(parts, fmt.Sprintf("%s %s%s", text.Plural(o.Count, "path", "paths"), o.Why, name))
	}
	return strings.Join(parts, "; ")
}

// outcome says what a rollback did.
func outcome(did checkpoint.Result, gone since) string {
	var b strings.Builder
	if did.Before.ID != "" {
		restored := "No file had to change."
		if did.Done > 0 || len(did.Failed) > 0 {
			restored = "Restored " + text.Plural(did.Done, "path", "paths") + "."
		}
		fmt.Fprintf(&b, "%s Undo that with %s\n", restored, code(fmt.Sprint("/rollback ", did.Before.Number)))
	}
	if n := len(gone.list); n > 0 {
		fmt.Fprintf(&b, "\nRemoved %s from the conversation.\n", text.Plural(n, "message", "messages"))
	}
	if n := len(gone.back); n > 0 {
		fmt.Fprintf(&b, "\n%s back in the conversation.\n", text.Plural(n, "message is", "messages are"))
	}
	if gone.kept.ID != "" {
		fmt.Fprintf(&b, "\nWhat was said since is in %s. Go there with %s\n", named(gone.kept), code("/resume "+gone.kept.ID))
	}
	for _, k := range did.Failed {
		fmt.Fprintf(&b, "\n%s was not restored: %s\n", code(text.VisibleName(k.Path)), plain(text.Visible(k.Why)))
	}
	return b.String()
}

// about says why a snapshot was made.
func about(s checkpoint.Snapshot) string {
	what := s.Reason
	if s.Name != "" {
		what = s.Name
	}
	return plain(text.OneLine(text.Visible(what), excerptSize))
}

// excerpt is the beginning of a message.
func excerpt(m hermes.Message) string {
	return "“" + plain(text.Line(text.Visible(m.Visible()), excerptSize)) + "”"
}

// asked returns the beginning of the message that a snapshot's turn answers, or where it is.
func (r *rolling) asked(ctx context.Context, s checkpoint.Snapshot) string {
	if s.Session == "" {
		return ""
	}
	if s.Session != r.Session.ID() {
		return "session " + code(s.Session)
	}
	gone, err := r.since(ctx, s)
	switch at := s.Position().Message; {
	case at == 0:
		return ""
	case err != nil || gone.from != at:
		return "(not in the conversation any more)"
	}
	return excerpt(gone.list[0])
}

// list shows the checkpoints, newest first.
func (r *rolling) list(ctx context.Context) (Result, error) {
	if len(r.folder.Snapshots) == 0 {
		return Result{Text: "No checkpoints yet. One is made before the agent changes files."}, nil
	}
	var b strings.Builder
	b.WriteString("| | time | message | made |\n|---:|---|---|---|\n")
	for _, s := range slices.Backward(r.folder.Snapshots) {
		fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", s.Number, r.time(s), r.asked(ctx, s), about(s))
	}
	b.WriteString("\nRoll back files and messages with `/rollback N`, one file with `/rollback N FILE`; see changes with `/rollback diff N`.\n")
	if cut, ok, err := r.store.CutOff(r.Session.ID()); err == nil && ok {
		fmt.Fprintf(&b, "\nA rollback to checkpoint %d was cut off. Finish it with %s\n", cut.Number, code(fmt.Sprint("/rollback ", cut.Number)))
	}
	return Result{Text: b.String()}, nil
}

// time is short for what was made today.
func (r *rolling) time(s checkpoint.Snapshot) string {
	newest := r.folder.Snapshots[len(r.folder.Snapshots)-1].Time.Local()
	if at := s.Time.Local(); at.Format("2006-01-02") == newest.Format("2006-01-02") {
		return at.Format("15:04:05")
	}
	return stamp(s.Time)
}

// tree shows how checkpoints follow each other.
func (r *rolling) tree(ctx context.Context) (Result, error) {
	if len(r.folder.Snapshots) == 0 {
		return r.list(ctx)
	}
	var b strings.Builder
	b.WriteString("```\n")
	for _, s := range r.folder.Tree() {
		mark := ""
		if s.ID == r.folder.Head {
			mark = " *"
		}
		fmt.Fprintf(&b, "%s%d%s  %s  %s", s.Lines, s.Number, mark, r.time(s.Snapshot), unfenced(text.OneLine(text.Visible(cmp.Or(s.Name, s.Reason)), excerptSize)))
		if asked := r.plainAsked(s.Snapshot); asked != "" {
			b.WriteString("  " + unfenced(asked))
		}
		b.WriteString("\n")
	}
	b.WriteString("```\n\nThe next checkpoint follows the one with the `*`. After a rollback that is the one rolled back to.\n")
	return Result{Text: b.String()}, nil
}

// plainAsked is asked for a code block.
func (r *rolling) plainAsked(s checkpoint.Snapshot) string {
	switch s.Session {
	case "":
		return ""
	case r.Session.ID():
	default:
		return "session " + s.Session
	}
	for _, m := range r.state.Transcript {
		if m.ID != 0 && m.ID == s.Position().Message {
			return "“" + text.Line(text.Visible(m.Visible()), excerptSize) + "”"
		}
	}
	return ""
}

// unfenced keeps a line from ending a code block.
func unfenced(s string) string { return strings.ReplaceAll(s, "```", "'''") }

// compare shows what changed since a checkpoint.
func (r *rolling) compare(ctx context.Context) (Result, error) {
	snap, rest, err := r.which(ctx, r.words[1:])
	if err != nil {
		return Result{}, err
	}
	var paths []string
	if len(rest) > 0 {
		rel, err := r.inFolder(ctx, strings.Join(rest, " "))
		if err != nil {
			return Result{}, err
		}
		paths = append(paths, rel)
	}
	changes, err := r.store.Diff(ctx, r.folder.Folder, snap.ID, "", paths)
	if err != nil {
		return Result{}, err
	}
	head := fmt.Sprintf("Changes in %s since checkpoint %d, %s, by you and the agent", code(text.VisibleName(r.folder.Folder)), snap.Number, stamp(snap.Time))
	return Result{Text: shownChanges(head, changes, false, fmt.Sprintf("hermes checkpoints diff %d", snap.Number))}, nil
}
