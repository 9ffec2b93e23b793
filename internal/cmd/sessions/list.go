package sessions

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/usage"
)

// ListOptions are the wishes of `sessions list`.
type ListOptions struct {
	Deps
	Out, Err  io.Writer
	Platform  string
	Workspace string
	Title     string
	Limit     int
	All       bool
	Archived  bool
	JSON      bool
}

// NewListCmd makes the verb; runF replaces its work in tests.
func NewListCmd(d Deps, runF func(context.Context, *ListOptions) error) *cobra.Command {
	o := &ListOptions{Deps: d}
	if runF == nil {
		runF = runList
	}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List sessions, last active first",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Limit < 1 {
				return usage.Errorf("--limit must be at least 1")
			}
			o.Out, o.Err = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return runF(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Platform, "source", "", "only sessions of this source (cli, telegram, …)")
	f.StringVar(&o.Workspace, "workspace", "", "only sessions that began in this `folder`")
	f.StringVar(&o.Title, "title", "", "only sessions whose title holds this text")
	f.IntVar(&o.Limit, "limit", 20, "how many to show")
	f.BoolVar(&o.All, "all", false, "show one-shot, tool and subagent sessions too")
	f.BoolVar(&o.Archived, "include-archived", false, "show archived ones too")
	f.BoolVar(&o.JSON, "json", false, "print JSON")
	return cmd
}

func runList(ctx context.Context, o *ListOptions) error {
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
	return o.with(ctx, func(s hermes.Store) error {
		rows, err := s.ListSessions(ctx, filter)
		if err != nil {
			return err
		}
		if o.JSON {
			list := make([]rowJSON, 0, len(rows))
			for _, r := range rows {
				list = append(list, toJSON(r))
			}
			return printJSON(o.Out, list)
		}
		if len(rows) == 0 {
			return o.explainNone(ctx, s, filter)
		}
		return o.print(ctx, s, rows)
	})
}

// abs is a folder as sessions store it.
func (d Deps) abs(dir string) (string, error) {
	if d.Dir != "" && !filepath.IsAbs(dir) {
		return filepath.Join(d.Dir, dir), nil
	}
	return filepath.Abs(dir)
}

// explainNone says why a list is empty, and what shows more.
func (o *ListOptions) explainNone(ctx context.Context, s hermes.Store, filter hermes.SessionFilter) error {
	stats, err := s.Stats(ctx)
	if err != nil {
		return err
	}
	if stats.Sessions == 0 {
		fmt.Fprintln(o.Err, "There is no session yet. `hermes` begins one.")
		return nil
	}
	filter.Exclude, filter.Limit = nil, -1
	hidden, err := s.ListSessions(ctx, filter)
	if err != nil {
		return err
	}
	if len(hidden) > 0 {
		fmt.Fprintf(o.Err, "Nothing to list here: %s. `hermes sessions list --all` shows %s too.\n", kinds(hidden), word(len(hidden), "it", "them"))
		return nil
	}
	fmt.Fprintf(o.Err, "%s. `--include-archived` looks at archived ones too.\n",
		word(stats.Sessions, "The one session there is does not fit", fmt.Sprintf("None of the %d sessions fits", stats.Sessions)))
	return nil
}

// kinds tells sessions by where they come from: "2 come from oneshot".
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

func (o *ListOptions) print(ctx context.Context, s hermes.Store, rows []hermes.Session) error {
	lines := [][]string{{"ID", "ACTIVE", "SOURCE", "STATE", "MSGS", "TITLE"}}
	for _, r := range rows {
		title, err := titleOf(ctx, s, r)
		if err != nil {
			return err
		}
		if r.Pinned {
			title = "* " + title
		}
		lines = append(lines, []string{r.ID, ago(active(r), o.now()), r.Platform, state(r), strconv.Itoa(r.Messages), title})
	}
	table(o.Out, lines)
	return nil
}

// peekMost is the longest session whose first words stand for a title.
const peekMost = 400

// titleOf is a session's title, or the beginning of what the person said.
func titleOf(ctx context.Context, s hermes.Transcript, r hermes.Session) (string, error) {
	if r.Title != "" || r.Messages == 0 || r.Messages > peekMost {
		return oneLine(r.Title, 60), nil
	}
	list, err := s.Messages(ctx, r.ID, hermes.Range{})
	if err != nil {
		return "", err
	}
	for _, m := range list {
		if m.Role == hermes.RoleUser && m.Visible() != "" {
			return "“" + oneLine(m.Visible(), 58) + "”", nil
		}
	}
	return "", nil
}
