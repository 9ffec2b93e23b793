// Package checkpointtest holds what checkpoints promise wherever the files are, as a test that
// the backends run: random changes by the agent and by the user, undone, give the first state
// byte for byte. Start at [Site.UndoesRandomChanges].
package checkpointtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"hermes/internal/checkpoint"
	"hermes/internal/checkpoint/away"
	"hermes/internal/shellstate"
)

// Site is where files are changed. Its shell has the usual tools.
type Site struct {
	Store *checkpoint.Store
	// Dir is an absolute path of an empty folder there, without links. A folder beside it, with
	// the ending -user, must be free.
	Dir string
	// Run runs a command line and returns what it prints; it fails the test if that fails.
	Run func(t testing.TB, line string) []byte
	// Write writes a file as the tools do.
	Write func(t testing.TB, path string, data []byte)
	// Rounds is how many changes are made, after a third as many in each of two folders that begin
	// with nothing; 0 is 24.
	Rounds int
}

// In is a site in a place, which write writes files to. The store must work there, too.
func In(place away.Shell, write func(ctx context.Context, path string, data []byte, mode fs.FileMode) error, store *checkpoint.Store, dir string) Site {
	return Site{
		Store: store,
		Dir:   dir,
		Run: func(t testing.TB, line string) []byte {
			t.Helper()
			var out, errs bytes.Buffer
			code, err := place.Script(t.Context(), line, nil, &out, &errs)
			if err != nil || code != 0 {
				t.Fatalf("%.300s: %v, exit %d: %s", line, err, code, errs.String())
			}
			return out.Bytes()
		},
		Write: func(t testing.TB, path string, data []byte) {
			t.Helper()
			if err := write(t.Context(), path, data, 0o640); err != nil {
				t.Fatal(err)
			}
		},
	}
}

// names are parts of the names of files, with all that a name may have.
var names = []string{"a", "with space", "quote'\"s", "line\nbreak", "back\\slash", "-dash", ".hidden", "bytes\xff\xfe", "*[glob]?", "$(x)`y`", "ü"}

// UndoesRandomChanges makes random changes with commands and tools by the agent, and with
// commands by the user in between, with snapshots and restores. Restoring the first snapshot must
// give what the folder would be if only the user had worked; restoring everything the first
// state; and undoing that the state before.
func (s Site) UndoesRandomChanges(t *testing.T, seed uint64) {
	t.Helper()
	w := &walk{t: t, site: s, r: rand.New(rand.NewPCG(seed, 15)), user: s.Dir + "-user"}
	rounds := cmp.Or(s.Rounds, 24)
	w.line("mkdir -p both mine work\nfor i in 0 1 2 3; do printf 'top\\n1\\n2\\n3\\n4\\nbottom\\n' >both/$i; done", s.Dir, w.user)
	for _, sub := range []string{"mine", "work"} {
		for range rounds / 3 {
			w.line(w.change(sub), s.Dir, w.user)
		}
	}
	first := w.dump(s.Dir)
	w.same("the copy", w.dump(w.user), first)
	snapshot := w.snapshot()
	snapshots := []checkpoint.Snapshot{snapshot}
	for range rounds {
		file, text := fmt.Sprintf("both/%d", w.r.IntN(4)), fmt.Sprint(w.r.IntN(1000))
		edit := func(line string) string { return fmt.Sprintf("sed -i 's/^%s.*/%s %s/' %s", line, line, text, file) }
		switch w.r.IntN(8) {
		case 0, 1:
			w.agent(nil, w.change("work"))
		case 2:
			w.agent(nil, w.swap("work"))
		case 3:
			w.agent([]string{file}, edit("bottom"))
		case 4:
			w.tool(w.fresh("work"), w.content())
		case 5:
			w.line(w.change("mine"), s.Dir, w.user)
		case 6:
			w.line(edit("top"), s.Dir, w.user)
		case 7:
			if w.r.IntN(2) == 0 {
				snapshots = append(snapshots, w.snapshot())
				continue
			}
			w.restore(snapshots[w.r.IntN(len(snapshots))], checkpoint.RestoreOptions{})
		}
	}
	before := w.dump(s.Dir)
	plan, did := w.restore(snapshot, checkpoint.RestoreOptions{})
	if len(plan.Conflicts) > 0 {
		t.Fatalf("conflicts: %v", plan.Conflicts)
	}
	w.same("the restored state", w.dump(s.Dir), w.dump(w.user))
	w.restore(did.Before, checkpoint.RestoreOptions{})
	w.same("the restore undone", w.dump(s.Dir), before)
	w.restore(snapshot, checkpoint.RestoreOptions{All: true})
	w.same("everything restored", w.dump(s.Dir), first)
	if _, err := s.Store.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.restore(snapshots[len(snapshots)-1], checkpoint.RestoreOptions{All: true}) // nothing needed was pruned
}

// A walk is one run of the test.
type walk struct {
	t    *testing.T
	site Site
	r    *rand.Rand
	user string // the folder in which only the user works
}

// line runs a command line in folders.
func (w *walk) line(line string, dirs ...string) {
	w.t.Helper()
	if line == "" {
		return
	}
	for _, dir := range dirs {
		w.site.Run(w.t, "mkdir -p "+quote(dir)+" && cd "+quote(dir)+" || exit\nset -e\n"+line)
	}
}

// agent runs a command line as the agent does: what it changes is noted.
func (w *walk) agent(paths []string, line string) {
	w.t.Helper()
	w.noted(paths, func() { w.line(line, w.site.Dir) })
}

func (w *walk) tool(rel string, data []byte) {
	w.t.Helper()
	w.noted([]string{rel}, func() { w.site.Write(w.t, w.site.Dir+"/"+rel, data) })
}

func (w *walk) noted(paths []string, change func()) {
	w.t.Helper()
	g, err := w.site.Store.Begin(w.t.Context(), w.site.Dir, "test", paths)
	if err != nil {
		w.t.Fatal(err)
	}
	change()
	if err := g.Done(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *walk) snapshot() checkpoint.Snapshot {
	w.t.Helper()
	s, _, err := w.site.Store.Snapshot(w.t.Context(), w.site.Dir, checkpoint.Meta{Reason: "test"}, checkpoint.SnapshotOptions{Always: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *walk) restore(s checkpoint.Snapshot, o checkpoint.RestoreOptions) (checkpoint.Plan, checkpoint.Result) {
	w.t.Helper()
	p, err := w.site.Store.Plan(w.t.Context(), w.site.Dir, s.ID, o)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := w.site.Store.Restore(w.t.Context(), p, checkpoint.Meta{Reason: "before a restore"})
	if err != nil || len(r.Failed) > 0 {
		w.t.Fatalf("restore: %v, failed: %q", err, r.Failed)
	}
	return p, r
}

// list returns the paths of a kind (d, f, or "" for any) below a folder, in random order.
func (w *walk) list(sub, kind string) []string {
	w.t.Helper()
	if kind != "" {
		kind = "-type " + kind
	}
	out := w.site.Run(w.t, "cd "+quote(w.site.Dir)+" && find "+sub+" -mindepth 1 "+kind+" -exec printf '%s\\0' {} +")
	var paths []string
	for p := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if p != "" {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths) // the order of find is not that of the seed
	w.r.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	return paths
}

func (w *walk) pick(sub, kind string) string {
	if l := w.list(sub, kind); len(l) > 0 {
		return l[0]
	}
	return ""
}

// fresh returns a path where nothing is, in a random folder.
func (w *walk) fresh(sub string) string {
	dir := sub
	if d := w.pick(sub, "d"); d != "" && w.r.IntN(3) > 0 {
		dir = d
	}
	return path.Join(dir, fmt.Sprintf("%s %d", names[w.r.IntN(len(names))], w.r.Uint32()))
}

func (w *walk) content() []byte {
	switch w.r.IntN(4) {
	case 0:
		return []byte{}
	case 1:
		b := make([]byte, w.r.IntN(5000))
		for i := range b {
			b[i] = byte(w.r.Uint32())
		}
		return b
	}
	return bytes.Repeat(fmt.Appendf(nil, "line %d\n", w.r.IntN(9)), w.r.IntN(50))
}

func (w *walk) fill(rel string) string {
	return "echo " + base64.StdEncoding.EncodeToString(w.content()) + " | base64 -d >" + word(rel)
}

// change is a command line that makes one random change below a folder.
func (w *walk) change(sub string) string {
	w.t.Helper()
	switch n := w.r.IntN(10); n {
	case 0, 1:
		rel := w.fresh(sub)
		return w.fill(rel) + fmt.Sprintf("\nchmod %o %s", 0o600|w.r.IntN(0o200), word(rel))
	case 2:
		return "mkdir " + word(w.fresh(sub))
	case 3:
		targets := []string{"a", "../outside", "/etc/passwd", "gone/away", "line\nbreak\n", "bytes\xff"}
		return "ln -s " + quote(targets[w.r.IntN(len(targets))]) + " " + word(w.fresh(sub))
	case 4, 5:
		if rel := w.pick(sub, "f"); rel != "" {
			return w.fill(rel)
		}
	case 6:
		if rel := w.pick(sub, ""); rel != "" {
			return "rm -rf " + word(rel)
		}
	case 7:
		if rel, to := w.pick(sub, ""), w.fresh(sub); rel != "" && !strings.HasPrefix(to, rel+"/") {
			return "mv " + word(rel) + " " + word(to)
		}
	case 8, 9:
		kind, mode := "f", 0o600|w.r.IntN(0o200)
		if n == 9 {
			kind, mode = "d", 0o700|w.r.IntN(0o100)
		}
		if rel := w.pick(sub, kind); rel != "" {
			return fmt.Sprintf("chmod %o %s", mode, word(rel))
		}
	}
	return ""
}

// swap turns a folder into a link, or something else into a folder, which is hard to undo.
func (w *walk) swap(sub string) string {
	w.t.Helper()
	rel := w.pick(sub, "")
	if rel == "" {
		return ""
	}
	p := word(rel)
	return "if [ -d " + p + " ] && [ ! -L " + p + " ]; then rm -rf " + p + "; ln -s elsewhere " + p + "; else rm -f " + p + "; mkdir -m 750 " + p + "; echo in >" + p + "/in; fi"
}

// dump returns what is at each path of a folder: kind, mode, and content or target.
func (w *walk) dump(dir string) map[string]string {
	w.t.Helper()
	out := w.site.Run(w.t, "cd "+quote(dir)+` && find . -exec sh -c 'for p do
	if [ -L "$p" ]; then printf "%s\0link " "$p"; readlink "$p"
	elif [ -d "$p" ]; then printf "%s\0folder " "$p"; stat -c %a "$p"
	else printf "%s\0file " "$p"; stat -c "%a %s" "$p"; sha256sum <"$p"; fi
	printf "\0"
done' sh {} +`)
	parts := strings.Split(string(out), "\x00")
	all := map[string]string{}
	for i := 0; i+1 < len(parts); i += 2 {
		all[parts[i]] = parts[i+1]
	}
	if len(all) < 4 {
		w.t.Fatalf("the folder was not read: %q", out)
	}
	return all
}

func (w *walk) same(what string, got, want map[string]string) {
	w.t.Helper()
	var wrong []string
	for p, is := range got {
		if was, ok := want[p]; !ok || was != is {
			wrong = append(wrong, fmt.Sprintf("%q is %q, want %q", p, is, was))
		}
	}
	for _, p := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[p]; !ok {
			wrong = append(wrong, fmt.Sprintf("%q is missing, want %q", p, want[p]))
		}
	}
	if len(wrong) > 0 {
		w.t.Fatalf("%s differs:\n%.3000s", what, strings.Join(wrong, "\n"))
	}
}

func quote(s string) string { return shellstate.Quote(s) }

// word is a path as a command takes it.
func word(rel string) string { return quote("./" + rel) }
