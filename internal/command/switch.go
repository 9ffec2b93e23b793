package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes"
	"hermes/internal/session"
	"hermes/internal/text"
	"hermes/internal/worktree"
)

// Sessions are the stored conversations. *session.Manager implements it.
type Sessions interface {
	Find(ctx context.Context, ref string) (hermes.Session, error)
	List(ctx context.Context, f hermes.SessionFilter) ([]hermes.Session, error)
	Search(ctx context.Context, q hermes.SearchQuery) ([]hermes.Hit, error)
	// BranchAt copies a session up to a message, without it; 0 copies all.
	BranchAt(ctx context.Context, ref, title string, before int64) (hermes.Session, error)
	Moved(ctx context.Context, row hermes.Session, dir string) (hermes.Session, error)
}

var _ Sessions = (*session.Manager)(nil)

// How many sessions are listed. A number in /resume is a position in that list.
const (
	someSessions = 15
	manySessions = 100
)

// hiddenPlatforms are the platforms whose sessions users do not resume.
func hiddenPlatforms() []string {
	return []string{"oneshot", "kanban", "tool", "subagent", "demo", "batch", "eval"}
}

func (c *Call) sessions(ctx context.Context) (Sessions, error) {
	if c.Sessions == nil {
		return nil, errors.New("stored sessions are not available here; list them with `hermes sessions list`")
	}
	return c.Sessions(ctx)
}

// idle checks that no turn runs in the session before switching away from it.
func (c *Call) idle(ctx context.Context) (session.State, error) {
	st, err := c.Session.State(ctx)
	if err == nil && st.Running {
		err = errors.New("a turn is running; wait until it ends, or stop it with /stop")
	}
	return st, err
}

// branch switches to a copy of the session, or of its beginning.
func branch(ctx context.Context, c *Call) (Result, error) {
	rest, ok := strings.CutPrefix(c.Args, "--back")
	if !ok {
		return branchBefore(ctx, c, c.Args, 0)
	}
	word, title, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(rest, "=")), " ")
	n, err := count(word, 0)
	if err != nil || n == 0 {
		return Result{}, errors.New("add how many exchanges to leave out: /branch --back 2")
	}
	st, err := c.Session.State(ctx)
	if err != nil {
		return Result{}, err
	}
	for _, m := range slices.Backward(st.Transcript) {
		if m.Role != hermes.RoleUser || m.Synthetic {
			continue
		}
		if n--; n == 0 {
			return branchBefore(ctx, c, strings.TrimSpace(title), m.ID)
		}
	}
	return Result{}, errors.New("the conversation does not have so many exchanges")
}

// branchBefore switches to a copy of what came before a message; 0 copies all.
func branchBefore(ctx context.Context, c *Call, title string, before int64) (Result, error) {
	all, err := branchable(ctx, c, before)
	if err != nil {
		return Result{}, err
	}
	row, err := all.BranchAt(ctx, c.Session.ID(), title, before)
	if errors.Is(err, hermes.ErrTitleTaken) {
		return Result{}, fmt.Errorf("another session has the title %q; choose another", title)
	}
	if err != nil {
		return Result{}, err
	}
	return Result{Action: hermes.ActionSwitch, Arg: row.ID, Text: "Branched to " + named(row) + ". To go back, use " + code("/resume "+c.Session.ID())}, nil
}

// branchable checks that there is something before a message to copy, and that no turn runs.
func branchable(ctx context.Context, c *Call, before int64) (Sessions, error) {
	all, err := c.sessions(ctx)
	if err != nil {
		return nil, err
	}
	st, err := c.idle(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(st.Transcript) == 0:
		return nil, errors.New("no messages yet, so there is nothing to branch from")
	case st.Transcript[0].ID == before && before != 0:
		return nil, errors.New("there are no messages before that; start a new session with /new")
	}
	return all, nil
}

// resume switches to another session.
func resume(ctx context.Context, c *Call) (Result, error) {
	if c.Args == "" {
		return listSessions(ctx, c)
	}
	all, err := c.sessions(ctx)
	if err != nil {
		return Result{}, err
	}
	if _, err := c.idle(ctx); err != nil && !errors.Is(err, hermes.ErrClosed) {
		return Result{}, err
	}
	row, err := c.meant(ctx, all)
	if err != nil {
		return Result{}, err
	}
	if row.ID == c.Session.ID() {
		return Result{Text: "You are already in this session."}, nil
	}
	return Result{Action: hermes.ActionSwitch, Arg: row.ID}, nil
}

// meant finds the session by its number in the list, its id or its title.
func (c *Call) meant(ctx context.Context, all Sessions) (hermes.Session, error) {
	if n, err := strconv.Atoi(c.Args); err == nil && n >= 1 && n <= manySessions {
		rows, err := recent(ctx, c, all, manySessions)
		if err != nil {
			return hermes.Session{}, err
		}
		if n > len(rows) {
			return hermes.Session{}, fmt.Errorf("the list has only %s; use /sessions to show it", text.Plural(len(rows), "other session", "other sessions"))
		}
		return rows[n-1], nil
	}
	row, err := all.Find(ctx, c.Args)
	switch {
	case errors.Is(err, hermes.ErrNotFound):
		return row, fmt.Errorf("no session %q; find it with /sessions or /sessions search WORDS", c.Args)
	case errors.Is(err, hermes.ErrAmbiguous):
		return row, fmt.Errorf("%q matches several sessions; type more of the id or title", c.Args)
	}
	return row, err
}

// listSessions lists the other sessions, or searches in all sessions.
func listSessions(ctx context.Context, c *Call) (Result, error) {
	all, err := c.sessions(ctx)
	if err != nil {
		return Result{}, err
	}
	word, rest, _ := strings.Cut(c.Args, " ")
	most := someSessions
	switch strings.ToLower(word) {
	case "":
	case "all":
		most = manySessions
	case "search":
		return searchSessions(ctx, all, strings.TrimSpace(rest))
	default:
		return Result{}, fmt.Errorf("unknown argument %q for /sessions; use /sessions, /sessions all or /sessions search WORDS", word)
	}
	rows, err := recent(ctx, c, all, most)
	if err != nil {
		return Result{}, err
	}
	if len(rows) == 0 {
		return Result{Text: "No other sessions yet."}, nil
	}
	var b strings.Builder
	for i, r := range rows {
		waits := ""
		if r.Asking {
			waits = ", waiting for your answer"
		}
		fmt.Fprintf(&b, "%d. %s, %s, %s%s\n", i+1, named(r), stamp(r.Active), text.Plural(int(r.Messages), "message", "messages"), waits)
	}
	b.WriteString("\nResume one with `/resume` and its number, id or title.")
	return Result{Text: b.String()}, nil
}

// recent are the other sessions with messages, last active first.
func recent(ctx context.Context, c *Call, all Sessions, most int) ([]hermes.Session, error) {
	rows, err := all.List(ctx, hermes.SessionFilter{NonEmpty: true, Exclude: hiddenPlatforms(), Limit: most + 1})
	if err != nil {
		return nil, err
	}
	var out []hermes.Session
	for _, r := range rows {
		if r.ID != c.Session.ID() && len(out) < most {
			out = append(out, r)
		}
	}
	return out, nil
}

func searchSessions(ctx context.Context, all Sessions, words string) (Result, error) {
	if words == "" {
		return Result{}, errors.New("add words to search for: /sessions search WORDS")
	}
	hits, err := all.Search(ctx, hermes.SearchQuery{
		Text: words, Roles: []hermes.Role{hermes.RoleUser, hermes.RoleAssistant}, Exclude: hiddenPlatforms(), Limit: 4 * someSessions,
	})
	if err != nil {
		return Result{}, err
	}
	var b strings.Builder
	seen := map[string]bool{}
	for _, h := range hits {
		if seen[h.Session.ID] || len(seen) == someSessions {
			continue
		}
		seen[h.Session.ID] = true
		fmt.Fprintf(&b, "- %s, %s: %s\n", named(h.Session), stamp(h.Message.Time), plain(text.Line(h.Snippet, 140)))
	}
	if len(seen) == 0 {
		return Result{Text: "No matches. Try fewer or other words, or the beginning of a word with `*`."}, nil
	}
	b.WriteString("\nResume one with `/resume ID`.")
	return Result{Text: b.String()}, nil
}

// named is how a session is shown to the user.
func named(r hermes.Session) string {
	if r.Title == "" {
		return code(r.ID)
	}
	return "**" + plain(r.Title) + "** " + code(r.ID)
}

func stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// Worktrees are those of this home.
type Worktrees interface {
	// New makes one in the repository of a session.
	New(ctx context.Context, on hermes.Workspace, name string) (worktree.Made, error)
	Records() ([]worktree.Record, error)
	// Look returns what would be lost with one.
	Look(ctx context.Context, r worktree.Record) []string
	Of(dir string) (worktree.Record, bool)
}

// worktrees makes a worktree and switches to a copy of the session in it, or lists them. The folder of a
// session never changes: its prompt names it.
func worktrees(ctx context.Context, c *Call) (Result, error) {
	if c.Worktrees == nil {
		return Result{}, errors.New("worktrees are not available here; list them with `hermes worktree list`")
	}
	word, name, _ := strings.Cut(c.Args, " ")
	switch strings.ToLower(word) {
	case "", "list":
		return listWorktrees(ctx, c)
	case "new":
		return newWorktree(ctx, c, strings.TrimSpace(name))
	}
	return Result{}, fmt.Errorf("unknown argument %q for /worktree; use /worktree new [NAME] or /worktree list", word)
}

func newWorktree(ctx context.Context, c *Call, name string) (Result, error) {
	all, err := c.sessions(ctx)
	if err != nil {
		return Result{}, err
	}
	st, err := c.idle(ctx)
	if err != nil {
		return Result{}, err
	}
	on := st.Row.StoredRun().Workspace
	if on.Dir == "" {
		on.Dir = st.Row.Dir
	}
	made, err := c.Worktrees.New(ctx, on, name)
	if err != nil {
		return Result{}, err
	}
	row, err := all.Moved(ctx, st.Row, made.Start)
	if err != nil {
		return Result{}, fmt.Errorf("the worktree %s was made, but the session cannot work there: %w", made.Path, err)
	}
	said := fmt.Sprintf("This session works in the worktree %s now, on the branch %s.", code(made.Path), code(made.Branch))
	if len(st.Transcript) > 0 {
		said += " To go back, use " + code("/resume "+c.Session.ID())
	}
	for _, n := range made.Notes {
		said += "\n\n" + plain(n)
	}
	return Result{Action: hermes.ActionSwitch, Arg: row.ID, Text: said}, nil
}

func listWorktrees(ctx context.Context, c *Call) (Result, error) {
	all, err := c.Worktrees.Records()
	if err != nil {
		return Result{}, err
	}
	st, err := c.Session.State(ctx)
	if err != nil && !errors.Is(err, hermes.ErrClosed) {
		return Result{}, err
	}
	here, _ := c.Worktrees.Of(st.Row.Dir)
	var b strings.Builder
	for _, r := range all {
		if r.State != worktree.Ready {
			continue
		}
		state := "nothing would be lost"
		if lost := c.Worktrees.Look(ctx, r); len(lost) > 0 {
			state = strings.Join(lost, "; ")
		}
		mark := ""
		if r.Path == here.Path {
			mark = " (here)"
		}
		fmt.Fprintf(&b, "- %s%s, branch %s, %s: %s\n", code(r.Path), mark, code(r.Branch), stamp(r.Made), plain(state))
	}
	if b.Len() == 0 {
		return Result{Text: "No worktrees. Make one with `/worktree new`."}, nil
	}
	return Result{Text: b.String()}, nil
}
