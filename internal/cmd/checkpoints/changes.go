package checkpoints

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/cmd/factory"
	"hermes/internal/session"
	"hermes/internal/text"
	"hermes/internal/usage"
)

// changed is what `hermes diff` shows of a session, also as JSON.
type changed struct {
	Folder  string              `json:"folder"`
	Session string              `json:"session"`
	Since   checkpoint.Snapshot `json:"since"`
	Changes []checkpoint.Change `json:"changes"`
}

// diffing is one use of `hermes diff`.
type diffing struct {
	noun
	place
	session      string
	stat, asJSON bool
}

// NewDiffCmd makes `hermes diff`.
func NewDiffCmd(f *factory.Factory) *cobra.Command {
	d := diffing{noun: noun{f}}
	cmd := factory.VerbOn(func() (*checkpoint.Store, error) { return f.App().Checkpoints() }, "diff [session|staged|all] [PATH...]", "Show what a session changed, before a commit",
		"hermes diff\n  hermes diff --stat src\n  hermes diff --session latest\n  hermes diff staged", cobra.ArbitraryArgs, d.run)
	cmd.Long = "Show all changes in this folder since the first checkpoint that is kept of a session: those of the agent and yours.\n" +
		"The session is the newest one that changed files here. `staged` and `all` show what git knows instead."
	d.flagDir(cmd)
	flags := cmd.Flags()
	flags.StringVar(&d.session, "session", "", "show the changes of this `session`: its id or title, or latest")
	flags.BoolVar(&d.stat, "stat", false, "show only the files and the numbers of lines")
	flags.BoolVar(&d.asJSON, "json", false, "print as JSON")
	return cmd
}

func (d *diffing) run(ctx context.Context, c *factory.Call, s *checkpoint.Store) error {
	what, paths := "session", c.Args
	if len(paths) > 0 && slices.Contains([]string{"session", "staged", "all"}, paths[0]) {
		what, paths = paths[0], paths[1:]
	}
	if what != "session" {
		return d.git(ctx, c, what == "staged", paths)
	}
	found, err := d.ofSession(ctx, s, paths)
	if err != nil {
		return err
	}
	if d.asJSON {
		return factory.WriteJSON(c.Out, found)
	}
	if len(found.Changes) == 0 {
		c.Say("No changes since checkpoint %d, the first one of session %s.", found.Since.Number, found.Session)
		return nil
	}
	added, removed := 0, 0
	table := factory.Table{Fit: d.Width()}
	for _, ch := range found.Changes {
		plus, minus := ch.Lines()
		added, removed = added+plus, removed+minus
		table.Row(ch.What(), text.VisibleName(ch.Path), fmt.Sprintf("+%d", plus), fmt.Sprintf("-%d", minus))
		if !d.stat {
			fmt.Fprint(c.Out, text.Visible(ch.Text))
		}
	}
	if !d.stat {
		return nil
	}
	if err := table.Print(c.Out); err != nil {
		return err
	}
	c.Say("%s, %s added, %s removed", text.Plural(len(found.Changes), "path", "paths"), text.Plural(added, "line", "lines"), text.Plural(removed, "line", "lines"))
	return nil
}

// git shows what git knows.
func (d *diffing) git(ctx context.Context, c *factory.Call, staged bool, paths []string) error {
	if d.asJSON || d.session != "" {
		return usage.Errorf("--json and --session are for the changes of a session, not for those that git knows")
	}
	dir, err := d.from()
	if err != nil {
		return err
	}
	out, err := d.App().GitDiff(ctx, dir, staged, d.stat, paths)
	if err != nil {
		return err
	}
	if out == "" {
		c.Say("Git has no changes.")
	}
	fmt.Fprint(c.Out, text.Visible(out))
	return nil
}

// from is the folder that paths are named from.
func (p place) from() (string, error) {
	if p.dir != "" {
		return p.dir, nil
	}
	return os.Getwd()
}

// ofSession finds the changes since the first checkpoint of the session.
func (d *diffing) ofSession(ctx context.Context, s *checkpoint.Store, paths []string) (changed, error) {
	id := ""
	if d.session != "" {
		row, err := d.named(ctx)
		if err != nil {
			return changed{}, err
		}
		if w := row.Run.Workspace; w.Elsewhere() {
			return changed{}, fmt.Errorf("session %s works in %s, whose checkpoints are there; use /diff in the session, or `hermes checkpoints diff N --session %s`", row.ID, w.Backend, row.ID)
		}
		if id = row.ID; d.dir == "" {
			d.dir = row.Dir
		}
	}
	folder, err := d.find(s)
	if err != nil {
		return changed{}, err
	}
	w, err := s.List(folder)
	if err != nil {
		return changed{}, err
	}
	first, ok := checkpoint.Snapshot{}, false
	tops := map[string]string{}
	for _, snap := range slices.Backward(w.Snapshots) {
		if snap.Session == "" {
			continue
		}
		top, known := tops[snap.Session]
		if !known {
			top = d.top(ctx, snap.Session)
			tops[snap.Session] = top
		}
		if id == "" {
			id = top
		}
		if top == id {
			first, ok = snap, true
		}
	}
	if !ok {
		return changed{}, fmt.Errorf("no checkpoint of %s is of this session; list them with `hermes checkpoints`", text.VisibleName(folder))
	}
	rel, err := d.relative(folder, paths)
	if err != nil {
		return changed{}, err
	}
	changes, err := s.Diff(ctx, folder, first.ID, "", rel)
	return changed{folder, id, first, slices.Concat([]checkpoint.Change{}, changes)}, err
}

// named returns the session that the user named.
func (d *diffing) named(ctx context.Context) (hermes.Session, error) {
	db, err := d.Reader(ctx)
	if err != nil {
		return hermes.Session{}, err
	}
	if d.session == "latest" {
		dir, err := d.from()
		if err != nil {
			return hermes.Session{}, err
		}
		return session.Latest(ctx, db, dir)
	}
	row, err := db.FindSession(ctx, d.session)
	if errors.Is(err, hermes.ErrNotFound) {
		err = fmt.Errorf("no session %q; list them with `hermes sessions list`", d.session)
	}
	return row, err
}

// top returns the conversation that a session works for: what a child did, its parent did.
func (d *diffing) top(ctx context.Context, id string) string {
	db, err := d.Reader(ctx)
	if err != nil { // without it, each session is one of its own
		return id
	}
	for range 16 {
		row, err := db.FindSession(ctx, id)
		if err != nil || row.ID != id || row.Platform != "subagent" || row.Parent == "" {
			return id
		}
		id = row.Parent
	}
	return id
}
