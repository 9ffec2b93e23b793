package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/lru"
	"hermes/internal/text"
)

// maxPlans bounds the calls that are remembered while they are under way.
const maxPlans = 32

// plans remembers what each call of restore will do, from when its risk is assessed until it
// has run: what was judged and shown is what is done. Its methods may be called concurrently.
type plans struct {
	mu    sync.Mutex
	calls *lru.Map[string, *planned]
}

// planned is the plan of a call, or the error of making it.
type planned struct {
	once  sync.Once
	store *checkpoint.Store // that the plan is of
	plan  checkpoint.Plan
	err   error
}

func newPlans() *plans { return &plans{calls: lru.New[string, *planned](maxPlans)} }

func keyOf(c *hermes.Call) string {
	return c.Host.Session().ID + "\x00" + c.ID + "\x00" + string(c.Arguments)
}

func (p *plans) of(c *hermes.Call) *planned {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls.Make(keyOf(c), func() *planned { return &planned{} })
}

// drop forgets a call.
func (p *plans) drop(c *hermes.Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls.Delete(keyOf(c))
}

// planOf returns what a call will do. It is worked out once for each call.
func (t *Toolset) planOf(ctx context.Context, c *hermes.Call) (*planned, error) {
	p := t.plans.of(c)
	p.once.Do(func() { p.err = t.makePlan(ctx, c, p) })
	return p, p.err
}

func (t *Toolset) makePlan(ctx context.Context, c *hermes.Call, p *planned) (err error) {
	var in restoreArgs
	if err := json.Unmarshal(c.Arguments, &in); err != nil {
		return fmt.Errorf("the arguments do not match the schema: %w", err)
	}
	var folder string
	if p.store, folder, err = t.config.Of(ctx, c.Host); err != nil {
		return err
	}
	s, err := find(p.store, folder, in.Checkpoint)
	if err != nil {
		return err
	}
	var paths []string
	for _, f := range in.Files {
		rel, err := relative(ctx, c.Host, p.store, folder, f)
		if err != nil {
			return err
		}
		paths = append(paths, rel)
	}
	p.plan, err = p.store.Plan(ctx, folder, s.ID, checkpoint.RestoreOptions{Paths: paths})
	return err
}

// relative returns a path that the model gave as one in the folder.
func relative(ctx context.Context, h hermes.Host, store *checkpoint.Store, folder, name string) (string, error) {
	at, err := h.Environment().Files().Resolve(name)
	if err != nil {
		return "", err
	}
	rel, ok, err := store.Rel(ctx, folder, at)
	if err != nil {
		return "", err
	}
	if !ok || name == "" {
		return "", fmt.Errorf("%q is not in %s, of which the checkpoints are", name, folder)
	}
	return rel, nil
}

// filesOf are the absolute paths that a plan changes.
func filesOf(p checkpoint.Plan) []string {
	out := make([]string, len(p.Steps))
	for i, st := range p.Steps {
		if out[i] = path.Join(p.Folder, st.Path); !strings.HasPrefix(p.Folder, "/") { // on this machine, with Windows
			out[i] = filepath.Join(p.Folder, filepath.FromSlash(st.Path))
		}
	}
	return out
}

// verb says what a step does to its path.
func verb(st checkpoint.Step) string {
	switch {
	case st.To.Kind == checkpoint.None:
		return "deleted"
	case st.From.Kind == checkpoint.None:
		return "created"
	case st.Merged:
		return "changed, with the user's own changes kept"
	}
	return "changed"
}

// subjectOf shows a plan to the user.
func subjectOf(p checkpoint.Plan) hermes.Subject {
	about := p.Snapshot.Name
	if about == "" {
		about = p.Snapshot.Reason
	}
	var head, detail strings.Builder
	fmt.Fprintf(&head, "restore checkpoint %d (%s)", p.Snapshot.Number, text.OneLine(about, 200))
	for _, st := range p.Steps {
		fmt.Fprintf(&head, "\n%s: %s", text.VisibleName(st.Path), verb(st))
		detail.WriteString(st.Text)
	}
	for _, k := range p.Yours {
		fmt.Fprintf(&detail, "kept: %s (%s)\n", text.VisibleName(k.Path), k.Why)
	}
	for _, k := range p.Conflicts {
		fmt.Fprintf(&detail, "conflict: %s: %s; it stays as it is\n", text.VisibleName(k.Path), k.Why)
	}
	return hermes.Subject{Text: head.String(), Detail: detail.String(), Dir: p.Folder}
}
