package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/session"
	"hermes/internal/text"
)

const rollbackUse = "use /rollback to list checkpoints, /rollback N [FILE], /rollback diff [N], /rollback branch N or /rollback tree"

// seenFlag carries what the user was shown, so that something else is not done after a yes.
const seenFlag = "--seen="

// rolling is one use of /rollback.
type rolling struct {
	*Call
	store  *checkpoint.Store
	dir    string // the session's folder
	away   bool   // it is not on this machine
	state  session.State
	folder checkpoint.Workspace
	words  []string // the arguments without flags
	line   string   // the command as it was written, without --yes
	all    bool     // also what the user changed
	files  bool     // of a branch
	seen   string   // what the user was shown; "" is nothing
	agreed bool
}

// rollback lists checkpoints, compares with one, or brings files and conversation back to one.
func rollback(ctx context.Context, c *Call) (Result, error) {
	r := rolling{Call: c, agreed: c.agreed()}
	for _, w := range strings.Fields(c.Args) {
		seen, is := strings.CutPrefix(w, seenFlag)
		switch {
		case is:
			r.seen = seen
			continue
		case w == "--all":
			r.all = true
		case w == "--files":
			r.files = true
		case strings.HasPrefix(w, "--"):
			return Result{}, fmt.Errorf("unknown option %q; %s", w, rollbackUse)
		default:
			r.words = append(r.words, w)
		}
		r.line += " " + w
	}
	if err := r.open(ctx); err != nil {
		return Result{}, err
	}
	if len(r.words) == 0 && !r.all {
		return r.list(ctx)
	}
	switch verb := first(r.words); verb {
	case "list":
		return r.list(ctx)
	case "tree":
		return r.tree(ctx)
	case "diff":
		return r.compare(ctx)
	case "branch":
		return r.branch(ctx)
	}
	snap, rest, err := r.which(ctx, r.words)
	if err != nil {
		return Result{}, err
	}
	return r.back(ctx, snap, strings.Join(rest, " "))
}

func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// open finds the checkpoints of the session's folder.
func (r *rolling) open(ctx context.Context) (err error) {
	if r.store = r.Checkpoints; r.store == nil {
		return errors.New("checkpoints are not available here; list them with `hermes checkpoints`")
	}
	if r.state, err = r.Session.State(ctx); err != nil {
		return err
	}
	r.dir, r.away = r.state.Row.Dir, r.state.Row.Run.Workspace.Elsewhere()
	if r.away {
		if r.Elsewhere == nil {
			return errors.New("this session does not work on this machine; list the checkpoints of its place with `hermes checkpoints --session " + r.Session.ID() + "`")
		}
		if r.store, r.dir, err = r.Elsewhere(ctx, r.state.Row); err != nil {
			return err
		}
	}
	dir, _ := r.store.Nearest(r.dir)
	r.folder, err = r.store.List(dir)
	return err
}

// which returns the snapshot that the words begin with, or the newest one of a turn of this
// session, and the other words. Of names, which the model gives, those of files go first.
func (r *rolling) which(ctx context.Context, words []string) (checkpoint.Snapshot, []string, error) {
	if ref := first(words); ref != "" {
		newest := slices.Clone(r.folder.Snapshots) // of equal names
		slices.Reverse(newest)
		is := func(s checkpoint.Snapshot) bool { return strconv.Itoa(s.Number) == ref || s.ID == ref }
		if i := slices.IndexFunc(newest, is); i >= 0 {
			return newest[i], words[1:], nil
		}
		if i, rest := r.called(ctx, newest, words); i >= 0 {
			return newest[i], rest, nil
		}
		if _, err := strconv.Atoi(ref); err == nil {
			return checkpoint.Snapshot{}, nil, fmt.Errorf("there is no checkpoint %s; list them with /rollback", ref)
		}
	}
	for _, s := range slices.Backward(r.folder.Snapshots) {
		if s.Session == r.Session.ID() && s.Position().Message != 0 {
			return s, words, nil
		}
	}
	return checkpoint.Snapshot{}, nil, errors.New("there is no checkpoint of this session; list all of the folder with /rollback")
}

// called returns the first snapshot whose name the words begin with, which may have blanks, and the other
// words. It returns -1 if there is no such snapshot, or if at least as many words are the path of a file.
func (r *rolling) called(ctx context.Context, list []checkpoint.Snapshot, words []string) (int, []string) {
	for n := len(words); n > 0; n-- {
		i := slices.IndexFunc(list, func(s checkpoint.Snapshot) bool { return slices.Equal(strings.Fields(s.Name), words[:n]) })
		if i < 0 {
			continue
		}
		for m := len(words); m >= n; m-- {
			if r.named(ctx, words[:m]) {
				return -1, nil
			}
		}
		return i, words[n:]
	}
	return -1, nil
}

// named reports whether words are the path of a file or folder that is there.
func (r *rolling) named(ctx context.Context, words []string) bool {
	rel, err := r.inFolder(ctx, strings.Join(words, " "))
	if err != nil {
		return false
	}
	is, err := r.store.Exists(ctx, r.folder.Folder, rel)
	return is && err == nil
}

// inFolder returns a path, which the user gives from the session's folder, as one in that of
// the checkpoints.
func (r *rolling) inFolder(ctx context.Context, name string) (string, error) {
	at := name
	switch {
	case r.away && !path.IsAbs(at):
		at = path.Join(r.dir, at)
	case !r.away && !filepath.IsAbs(at):
		dir := r.dir
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		at = filepath.Join(dir, at)
	}
	rel, ok, err := r.store.Rel(ctx, r.folder.Folder, at)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", notIn(name, r.folder.Folder)
	}
	return rel, nil
}

func notIn(name, folder string) error {
	return fmt.Errorf("%s is not in %s", text.VisibleName(name), text.VisibleName(folder))
}

// back restores files, and undoes the messages since if no single file was named.
func (r *rolling) back(ctx context.Context, snap checkpoint.Snapshot, file string) (Result, error) {
	if r.state.Running {
		return Result{}, errors.New("a turn is running; stop it first with /stop")
	}
	var o checkpoint.RestoreOptions
	o.All = r.all
	var gone since
	if file != "" {
		rel, err := r.inFolder(ctx, file)
		if err != nil {
			return Result{}, err
		}
		o.Paths = []string{rel}
	} else {
		var err error
		if gone, err = r.since(ctx, snap); err != nil {
			return Result{}, err
		}
	}
	plan, err := r.store.Plan(ctx, r.folder.Folder, snap.ID, o)
	if err != nil {
		return Result{}, err
	}
	p := preview{plan: plan, gone: gone, file: file != "", verb: "Roll back to", question: question(plan, gone)}
	if len(plan.Steps) == 0 && !gone.any() {
		return Result{Text: p.text() + "\nNothing to roll back."}, r.Checkpoints.EndRollback(r.Session.ID())
	}
	if r.seen != "" && r.seen != p.hash() {
		return p.ask(r.line, "Files or messages changed since you were asked, so nothing was done. This would happen now."), nil
	}
	if !r.agreed {
		return p.ask(r.line, ""), nil
	}
	if _, err := r.sessions(ctx); gone.keep && err != nil {
		return Result{}, fmt.Errorf("what was said since cannot be kept in another session, so nothing was done: %w", err)
	}
	did, err := r.restore(ctx, plan, &gone)
	if errors.Is(err, checkpoint.ErrStale) {
		return p.ask(r.line, "Files changed in this moment, so nothing was done."), nil
	}
	if errors.Is(err, errSaid) {
		if err := r.open(ctx); err != nil {
			return Result{}, err
		}
		r.agreed, r.seen = false, "another" // the user is shown what would happen now
		return r.back(ctx, snap, file)
	}
	if errors.Is(err, errPartly) {
		return Result{Text: outcome(did, since{}) + "\nThe messages stay, since not all files were restored. Roll back again when they can be, or go on without the last exchanges with `/branch --back N`.\n"}, nil
	}
	if err != nil {
		return Result{}, err
	}
	return Result{Text: outcome(did, gone)}, nil
}

// errSaid means that the conversation is not the one any more that the user was shown.
var errSaid = errors.New("the conversation changed")

// unsaid fails if the conversation has another end than when it was looked at.
func (r *rolling) unsaid(ctx context.Context) error {
	now, err := r.Session.State(ctx)
	if err == nil && lastOf(now.Transcript) != lastOf(r.state.Transcript) {
		err = errSaid
	}
	return err
}

func lastOf(list []hermes.Message) int64 {
	if len(list) == 0 {
		return 0
	}
	return list[len(list)-1].ID
}

// errPartly means that some steps of a rollback failed, so that its messages stay.
var errPartly = errors.New("not all files were restored")

// restore does what a plan says and then changes the messages. Both are done, or the user is
// told: the record of it goes last. The snapshot that it makes knows the messages, too.
func (r *rolling) restore(ctx context.Context, plan checkpoint.Plan, gone *since) (did checkpoint.Result, err error) {
	id := r.Session.ID()
	began := false
	err = r.Session.Rollback(ctx, gone.from, idsOf(gone.back), func(ctx context.Context) error {
		meta := checkpoint.Meta{Session: id, Reason: fmt.Sprint("before rolling back to ", plan.Snapshot.Number)}
		if gone.any() {
			if err := r.unsaid(ctx); err != nil { // nothing can be said from here on
				return err
			}
			snap := plan.Snapshot
			is := checkpoint.Rollback{Session: id, Folder: plan.Folder, Snapshot: snap.ID, Number: snap.Number, Message: gone.from}
			if len(gone.back) > 0 {
				is.Back = gone.back[0].ID
			}
			if err := r.Checkpoints.BeginRollback(is); err != nil {
				return err
			}
			began = true
			meta.At, _ = json.Marshal(gone.position()) // numbers always have a JSON form
		} else if len(plan.Steps) == 0 {
			return nil
		}
		var err error
		did, err = r.store.Restore(ctx, plan, meta)
		if err == nil && gone.any() && len(did.Failed) > 0 {
			return errPartly
		}
		if err == nil && gone.keep {
			return r.keep(ctx, gone)
		}
		return err
	})
	if began && (err == nil || errors.Is(err, checkpoint.ErrStale) || errors.Is(err, errPartly)) {
		err = errors.Join(err, r.Checkpoints.EndRollback(id))
	}
	return did, err
}

// since are the messages of the conversation since a checkpoint.
type since struct {
	from  int64            // the id of the first one; 0 if none goes
	list  []hermes.Message // all that go
	after int64            // the id of the one before them; 0 if they are the first
	stays string           // why none goes
	back  []hermes.Message // what comes back, since it undoes a rollback
	keep  bool             // what goes is kept in a session of its own
	kept  hermes.Session   // that session
}

// newSince are the messages of a conversation from a position on.
func newSince(list []hermes.Message, i int) since {
	s := since{list: list[i:]}
	if i < len(list) {
		s.from = list[i].ID
	}
	if i > 0 {
		s.after = list[i-1].ID
	}
	return s
}

// since finds the messages since a checkpoint was made: from the one that its turn answers on.
func (r *rolling) since(ctx context.Context, snap checkpoint.Snapshot) (since, error) {
	list := r.state.Transcript
	i := -1
	if was := snap.Position().Replaced; was != nil && snap.Session == r.Session.ID() {
		return r.replaced(ctx, *was)
	}
	switch at := snap.Position().Message; {
	case snap.Session == r.Session.ID() && at != 0:
		i = slices.IndexFunc(list, func(m hermes.Message) bool { return m.ID == at })
		if i < 0 && compressed(list) {
			return since{stays: "the conversation was compressed since"}, nil
		}
		if i < 0 { // it was undone: what came later goes
			i = slices.IndexFunc(list, func(m hermes.Message) bool { return m.ID > at })
		}
		if i < 0 {
			return since{stays: "those since are undone already"}, nil
		}
	case snap.Session == "":
		return since{stays: "the checkpoint belongs to no conversation"}, nil
	default:
		kin, err := r.kin(ctx, snap)
		if err != nil {
			return since{}, err
		}
		own := snap.Session == r.Session.ID()
		if made := snap.Turn != "" || snap.Position().Message != 0; !made || !kin && !own { // a tool made it in a turn
			return since{stays: "the checkpoint belongs to another conversation, or was made by a rollback"}, nil
		}
		for n, m := range list { // what a child, or the session before a branch, did was asked for then
			if m.Role == hermes.RoleUser && !m.Time.After(snap.Time) {
				i = n
			}
		}
		if i < 0 {
			return since{stays: "none of them was written before the checkpoint"}, nil
		}
	}
	return newSince(list, i), nil
}

// compressed reports whether a part of a transcript was replaced by a summary.
func compressed(list []hermes.Message) bool {
	for _, m := range list {
		if slices.ContainsFunc(m.Parts, func(p hermes.Part) bool { return p.Anchors != nil }) {
			return true
		}
	}
	return false
}

// mostKin bounds how far the sessions above one are followed.
const mostKin = 16

// kin reports whether a child of this session made a snapshot, or the session that this one was
// branched from, before that.
func (r *rolling) kin(ctx context.Context, snap checkpoint.Snapshot) (bool, error) {
	if r.Sessions == nil || snap.Session == r.Session.ID() {
		return false, nil
	}
	all, err := r.Sessions(ctx)
	if err != nil {
		return false, err
	}
	above := func(of, wanted string, through func(hermes.Session) bool) bool {
		for range mostKin {
			row, err := all.Find(ctx, of)
			if err != nil || row.ID != of || !through(row) || row.Parent == "" {
				return false
			}
			if of = row.Parent; of == wanted {
				return true
			}
		}
		return false
	}
	if above(snap.Session, r.Session.ID(), func(s hermes.Session) bool { return s.Platform == "subagent" }) {
		return true, nil
	}
	return above(r.Session.ID(), snap.Session, func(s hermes.Session) bool { return snap.Time.Before(s.Started) }), nil
}

// branch switches to a copy of the session as it was at a checkpoint.
func (r *rolling) branch(ctx context.Context) (Result, error) {
	if r.Where != Terminal {
		return Result{}, errors.New("this chat cannot switch to another session; use `hermes sessions branch`")
	}
	if len(r.words) < 2 {
		return Result{}, errors.New("add the number of a checkpoint: /rollback branch N [--files] [TITLE]")
	}
	snap, rest, err := r.which(ctx, r.words[1:])
	if err != nil {
		return Result{}, err
	}
	gone, err := r.since(ctx, snap)
	if err != nil {
		return Result{}, err
	}
	if len(gone.back) > 0 {
		return Result{}, fmt.Errorf("checkpoint %d was made by a rollback; use /rollback %d, and then /branch", snap.Number, snap.Number)
	}
	if gone.from == 0 {
		return Result{}, fmt.Errorf("the messages before checkpoint %d are not known: %s; use /branch --back N", snap.Number, gone.stays)
	}
	if _, err := branchable(ctx, r.Call, gone.from); err != nil {
		return Result{}, err // before anything is asked
	}
	title := strings.Join(rest, " ")
	if !r.files {
		return branchBefore(ctx, r.Call, title, gone.from)
	}
	plan, err := r.store.Plan(ctx, r.folder.Folder, snap.ID, checkpoint.RestoreOptions{All: r.all})
	if err != nil {
		return Result{}, err
	}
	p := preview{plan: plan, branch: true, verb: "Branch from", question: "Branch, and restore " + text.Plural(len(plan.Steps), "path", "paths") + "?"}
	if r.seen != "" && r.seen != p.hash() {
		return p.ask(r.line, "Files changed since you were asked, so nothing was done. This would happen now."), nil
	}
	if !r.agreed && len(plan.Steps) > 0 {
		return p.ask(r.line, ""), nil
	}
	out, err := branchBefore(ctx, r.Call, title, gone.from)
	if err != nil || len(plan.Steps) == 0 {
		return out, err
	}
	did, err := r.restore(ctx, plan, &since{})
	if err != nil {
		out.Text += fmt.Sprintf("\n\nThe files were not restored: %s. Restore them there with %s", plain(err.Error()), code("/rollback "+strconv.Itoa(snap.Number)))
		return out, nil
	}
	out.Text += "\n\n" + outcome(did, since{})
	return out, nil
}

// preview is what a rollback would do.
type preview struct {
	plan     checkpoint.Plan
	gone     since
	file     bool // a single file
	branch   bool // the messages stay, since they are copied
	verb     string
	question string
}

// hash tells previews apart. What the user says yes to is what is done.
func (p preview) hash() string {
	var all struct {
		Snapshot string
		Steps    []checkpoint.Step
		Kept     [][]checkpoint.Kept
		Gone     []int64
		Back     []int64
	}
	all.Snapshot, all.Steps, all.Kept = p.plan.Snapshot.ID, p.plan.Steps, [][]checkpoint.Kept{p.plan.Yours, p.plan.Conflicts}
	all.Gone, all.Back = idsOf(p.gone.list), idsOf(p.gone.back)
	data, _ := json.Marshal(all) // of plain values
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

// ask shows the preview and asks. Nothing has been done.
func (p preview) ask(line, why string) Result {
	shown := p.text()
	if why != "" {
		shown = why + "\n\n" + shown
	}
	return Result{Text: shown, Confirm: p.question, ConfirmLine: "/rollback" + line + " " + seenFlag + p.hash() + " " + Agreed}
}
