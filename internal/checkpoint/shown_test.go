package checkpoint_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"hermes/internal/checkpoint"
)

// TestAPlanShowsRightsAndWholeNames: what comes back as a program is seen, and no name or link
// looks like more lines of a diff.
func TestAPlanShowsRightsAndWholeNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("it has no such rights and names")
	}
	d := newDesk(t, checkpoint.Limits{})
	forged := "x\n+++ b\n@@ -1 +1 @@\n+harmless"
	d.write(map[string]string{"changed": "run\n", "gone": "run\n", "plain": "p\n", forged: "old\n"})
	must(t, os.Chmod(d.path("changed"), 0o755))
	must(t, os.Chmod(d.path("gone"), 0o755))
	must(t, os.Symlink("old\n+++ target", d.path("link")))
	s := d.snapshot()
	d.agent(func() {
		for _, name := range []string{"changed", "gone", "plain", "link"} {
			must(t, os.Remove(d.path(name)))
		}
		d.write(map[string]string{"changed": "text\n", forged: "new\n"})
		must(t, os.Symlink("new", d.path("link")))
	})
	var all strings.Builder
	for _, st := range d.plan(s, checkpoint.RestoreOptions{}).Steps {
		all.WriteString(st.Text)
	}
	for _, want := range []string{"changed: rights -rw-r--r--, now -rwxr-xr-x\n--- a/changed\n", "gone: rights -rwxr-xr-x\n--- /dev/null\n", "link to old<U+000A>+++ target\n"} {
		if !strings.Contains(strings.ReplaceAll(all.String(), "rights -rw-------", "rights -rw-r--r--"), want) {
			t.Errorf("no %q in:\n%s", want, all.String())
		}
	}
	if strings.Contains(all.String(), "plain: ") || strings.Contains(all.String(), "\n+++ b\n") || strings.Contains(all.String(), "\n+harmless") {
		t.Errorf("shown:\n%s", all.String())
	}
}

// TestANameIsNotAnID: the model gives names, and a checkpoint that is called as another one's id
// or again as an older one stands for neither.
func TestANameIsNotAnID(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	made := func(name string) checkpoint.Snapshot {
		s, _, err := d.store.Snapshot(t.Context(), d.dir, checkpoint.Meta{Name: name}, checkpoint.SnapshotOptions{Always: true})
		must(t, err)
		return s
	}
	made("start")
	second := made("start")
	made("2")
	for _, ref := range []string{second.ID, "2", "start"} {
		p, err := d.store.Plan(t.Context(), d.dir, ref, checkpoint.RestoreOptions{})
		if err != nil || p.Snapshot.ID != second.ID {
			t.Errorf("%s: %v, %+v", ref, err, p.Snapshot)
		}
	}
}
