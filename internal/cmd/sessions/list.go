package sessions

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/archive"
	"hermes/internal/cmd/factory"
	"hermes/internal/protocol/router"
	"hermes/internal/text"
	"hermes/internal/usage"
)

// listOptions are the options of `hermes sessions list`.
type listOptions struct {
	base
	Platform  string
	Workspace string
	Title     string
	Limit     int
	All       bool
	Archived  bool
	JSON      bool
}

func newList(f *factory.Factory) *cobra.Command {
	o := &listOptions{base: base{Factory: f}}
	cmd := o.verb("list", "List sessions, most recent first", "hermes sessions list --title build", cobra.NoArgs, o.run)
	cmd.Aliases = []string{"ls"}
	flags := cmd.Flags()
	flags.StringVar(&o.Platform, "source", "", "only sessions of this source (cli, telegram, …)")
	flags.StringVar(&o.Workspace, "workspace", "", "only sessions started in this `folder`")
	flags.StringVar(&o.Title, "title", "", "only sessions whose title contains this text")
	flags.IntVar(&o.Limit, "limit", 20, "maximum number of sessions")
	flags.BoolVar(&o.All, "all", false, "include one-shot, tool and subagent sessions")
	flags.BoolVar(&o.Archived, "include-archived", false, "include archived sessions")
	flags.BoolVar(&o.JSON, "json", false, "print JSON")
	return cmd
}

func (o *listOptions) run(ctx context.Context) error {
	if o.Limit < 1 {
		return usage.Errorf("--limit must be at least 1")
	}
	filter := hermes.SessionFilter{Platform: o.Platform, Title: o.Title, Limit: o.Limit, Archived: o.Archived}
	if !o.All && o.Platform == "" {
		filter.Exclude = hiddenPlatforms()
	}
	if o.Workspace != "" {
		var err error
		if filter.Dir, err = o.abs(o.Workspace); err != nil {
			return err
		}
	}
	return o.reading(ctx, func(s hermes.Store) error {
		rows, err := s.ListSessions(ctx, filter)
		if err != nil {
			return err
		}
		running, err := leasesOf(ctx, s)
		if err != nil {
			return err
		}
		if o.JSON {
			list := make([]listed, 0, len(rows))
			for _, r := range rows {
				archive.Mask(o.Shown).Session(&r, nil)
				list = append(list, listed{archive.SessionOf(r), runsIn(r, running)})
			}
			return factory.WriteJSON(o.Out, list)
		}
		if len(rows) == 0 {
			return o.explainNone(ctx, s, filter)
		}
		return o.print(ctx, s, rows, running)
	})
}

// abs returns the absolute path of a folder, as sessions store it.
func (b base) abs(dir string) (string, error) {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir), nil
	}
	here, err := b.Dir()
	return filepath.Join(here, dir), err
}

// explainNone prints why a list is empty and how to see more.
func (o *listOptions) explainNone(ctx context.Context, s hermes.Store, filter hermes.SessionFilter) error {
	stats, err := s.Stats(ctx)
	if err != nil {
		return err
	}
	if stats.Sessions == 0 {
		fmt.Fprintln(o.Err, "No sessions yet. Start one with: hermes")
		return nil
	}
	filter.Exclude, filter.Limit = nil, -1
	hidden, err := s.ListSessions(ctx, filter)
	if err != nil {
		return err
	}
	if len(hidden) > 0 {
		fmt.Fprintf(o.Err, "No sessions to show, but %s. Include %s with: hermes sessions list --all\n", kinds(hidden), word(len(hidden), "it", "them"))
		return nil
	}
	fmt.Fprintf(o.Err, "%s. Use --include-archived to include archived ones.\n",
		word(stats.Sessions, "The only session does not match", fmt.Sprintf("None of the %d sessions match", stats.Sessions)))
	return nil
}

// kinds counts sessions by platform: "2 sessions are from oneshot".
func kinds(rows []hermes.Session) string {
	count := map[string]int{}
	for _, r := range rows {
		count[r.Platform]++
	}
	var parts []string
	for _, platform := range slices.Sorted(maps.Keys(count)) {
		n := count[platform]
		parts = append(parts, fmt.Sprintf("%d %s from %s", n, word(n, "session is", "sessions are"), platform))
	}
	return strings.Join(parts, ", ")
}

func word(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// listed is a session in the list of --json.
type listed struct {
	archive.Session
	Running *running `json:"running,omitempty"` // nil if no process has it open
}

// running says which process has a session open.
type running struct {
	Where string `json:"where"`
	Owner string `json:"owner"`
	// Attachable says that `hermes attach` can join it.
	Attachable bool `json:"attachable"`
}

// leasesOf returns the leases of all sessions that a process has open.
func leasesOf(ctx context.Context, s hermes.Leases) (map[string]hermes.Lease, error) {
	list, err := s.Leases(ctx)
	leases := make(map[string]hermes.Lease, len(list))
	for _, l := range list {
		leases[l.Session] = l
	}
	return leases, err
}

// runsIn says which process has a session open; nil if none has.
func runsIn(r hermes.Session, leases map[string]hermes.Lease) *running {
	l, ok := leases[r.ID]
	if !ok {
		return nil
	}
	return &running{Where: router.Where(l.Owner, r.Platform), Owner: l.Owner, Attachable: l.Address != ""}
}

// print prints the list; with a column for where sessions are open if one is.
func (o *listOptions) print(ctx context.Context, s hermes.Store, rows []hermes.Session, leases map[string]hermes.Lease) error {
	open := slices.ContainsFunc(rows, func(r hermes.Session) bool { return runsIn(r, leases) != nil })
	var lines factory.Table
	if factory.IsTerminal(o.Out) {
		lines.Fit = o.Width()
	}
	head := []any{"ID", "ACTIVE", "SOURCE", "STATE", "MSGS", "TITLE"}
	if open {
		head = slices.Insert(head, 4, any("OPEN IN"))
	}
	lines.Row(head...)
	for _, r := range rows {
		title, err := titleOf(ctx, s, r, archive.Mask(o.Shown))
		if err != nil {
			return err
		}
		if r.Pinned {
			title = "* " + title
		}
		cells := []any{r.ID, ago(archive.LastActive(r), o.Now()), r.Platform, state(r), r.Messages, title}
		if open {
			where := ""
			if in := runsIn(r, leases); in != nil {
				where = in.Where
			}
			cells = slices.Insert(cells, 4, any(where))
		}
		lines.Row(cells...)
	}
	return lines.Print(o.Out)
}

// peekMost limits the length of a session whose first message is read as a title.
const peekMost = 400

// titleOf returns a session's title, or the beginning of the first user message.
func titleOf(ctx context.Context, s hermes.Transcript, r hermes.Session, k archive.Mask) (string, error) {
	if r.Title != "" || r.Messages == 0 || r.Messages > peekMost {
		return text.Line(k(r.Title), 60), nil
	}
	list, err := s.Messages(ctx, r.ID, hermes.Range{})
	if err != nil {
		return "", err
	}
	for _, m := range list {
		if m.Role == hermes.RoleUser && m.Visible() != "" {
			return "“" + text.Line(k(m.Visible()), 58) + "”", nil
		}
	}
	return "", nil
}
