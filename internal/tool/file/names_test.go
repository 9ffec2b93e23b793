package file_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes/internal/tool/file"
	"time"
)

func whole(sections string) args {
	return args{"mode": "patch", "patch": "*** Begin Patch\n" + sections + "*** End Patch\n"}
}

// TestOneFileUnderTwoNames: a patch may name one file in several ways, and no
// edit is lost.
func TestOneFileUnderTwoNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, os.Symlink("a.txt", w.path("link.txt")))
	must(t, os.Symlink(".", w.path("here")))
	names := []string{"a.txt", "./a.txt", w.path("a.txt"), "~/project/a.txt", "link.txt", "here/a.txt", "here/link.txt"}
	for _, first := range names {
		for _, second := range names {
			w.put("a.txt", "one\ntwo\nthree\n")
			got := w.ok("patch", whole(fmt.Sprintf("*** Update File: %s\n-one\n+1\n two\n*** Update File: %s\n two\n-three\n+3\n", first, second)))
			if now := w.has("a.txt"); now != "1\ntwo\n3\n" {
				t.Errorf("%s and %s: got %q, result %v", first, second, now, got)
			}
		}
	}
	if info, err := os.Lstat(w.path("link.txt")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v %v", info, err)
	}
}

// TestNamesOfOneFileAreSeenTogether: what one section does to a file is known
// to a later one that names it differently.
func TestNamesOfOneFileAreSeenTogether(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, sections, want string }{
		{"deleted, then updated", "*** Delete File: a.txt\n*** Update File: ./a.txt\n-one\n+1\n", "file not found"},
		{"deleted, then updated through a link", "*** Delete File: a.txt\n*** Update File: link.txt\n-one\n+1\n", "file not found"},
		{"added twice", "*** Add File: n.txt\n+1\n*** Add File: ./n.txt\n+2\n", "already exists"},
		{"moved onto itself", "*** Move File: a.txt -> ./a.txt\n", "same file"},
		{"moved onto a link to it", "*** Move File: a.txt -> link.txt\n", "same file"},
		{"moved onto another", "*** Move File: a.txt -> ./b.txt\n", "already exists"},
		{"moved onto a link that leads nowhere", "*** Move File: a.txt -> nowhere.txt\n", "symbolic link"},
		{"a link that is moved", "*** Move File: link.txt -> c.txt\n", "symbolic link"},
		{"a link that was deleted", "*** Delete File: link.txt\n*** Update File: ./link.txt\n-one\n+1\n", "deleted earlier"},
		{"two hard links", "*** Update File: a.txt\n-one\n+1\n*** Update File: hard.txt\n-three\n+3\n", "two names of one file"},
		{"two files that swap their names", "*** Move File: a.txt -> t.txt\n*** Move File: b.txt -> a.txt\n*** Move File: t.txt -> b.txt\n", "swap"},
	} {
		w := newWorld(t)
		w.put("a.txt", "one\ntwo\nthree\n")
		w.put("b.txt", "b\n")
		must(t, os.Symlink("a.txt", w.path("link.txt")))
		must(t, os.Symlink("none.txt", w.path("nowhere.txt")))
		must(t, os.Link(w.path("a.txt"), w.path("hard.txt")))
		w.refused("patch", whole(tt.sections), tt.want)
		if w.has("a.txt") != "one\ntwo\nthree\n" || w.has("b.txt") != "b\n" || w.has("n.txt") != "<missing>" || w.has("none.txt") != "<missing>" {
			t.Errorf("%s: something was changed", tt.name)
		}
		if to, err := os.Readlink(w.path("link.txt")); err != nil || to != "a.txt" {
			t.Errorf("%s: the link is changed: %s %v", tt.name, to, err)
		}
	}
}

// TestDeletingALinkKeepsItsFile also checks that the result says so.
func TestDeletingALinkKeepsItsFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a.txt", "one\ntwo\n")
	must(t, os.Symlink("a.txt", w.path("link.txt")))
	got := w.ok("patch", whole("*** Update File: link.txt\n-one\n+1\n*** Delete File: link.txt\n"))
	if _, err := os.Lstat(w.path("link.txt")); !os.IsNotExist(err) || w.has("a.txt") != "1\ntwo\n" {
		t.Errorf("got %v, %q", err, w.has("a.txt"))
	}
	if note, _ := got["note"].(string); !strings.Contains(note, "only the link was deleted") {
		t.Errorf("the result does not say that the file stays: %v", got)
	}
}

// TestHardLinksAreTold: a write replaces the file, so its other names keep the
// old text.
func TestHardLinksAreTold(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, file.Config{TrustWrites: true})
	for name, a := range map[string]args{
		"patch":      {"path": "a.txt", "old_string": "one", "new_string": "1"},
		"write_file": {"path": "a.txt", "content": "1\n"},
	} {
		w.put("b.txt", "one\n")
		must(t, os.RemoveAll(w.path("a.txt")))
		must(t, os.Link(w.path("b.txt"), w.path("a.txt")))
		got := w.ok(name, a)
		if warning, _ := got["_warning"].(string); !strings.Contains(warning, "hard link") || w.has("b.txt") != "one\n" || w.has("a.txt") != "1\n" {
			t.Errorf("%s: got %v, %q", name, got, w.has("b.txt"))
		}
	}
}

// TestNamesThatDifferInCase is about disks that do not tell case apart.
func TestNamesThatDifferInCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env.fold = true
	w.put("a.txt", "one\ntwo\nthree\n")
	w.ok("patch", whole("*** Update File: a.txt\n-one\n+1\n two\n*** Update File: A.TXT\n two\n-three\n+3\n"))
	if now := w.has("a.txt"); now != "1\ntwo\n3\n" {
		t.Errorf("got %q", now)
	}
	w.ok("patch", whole("*** Move File: a.txt -> A.txt\n"))
	if now := w.listed(); !slices.Contains(now, "A.txt") || slices.Contains(now, "a.txt") {
		t.Errorf("a change of case is a move: %v", now)
	}
	w.refused("patch", whole("*** Add File: New.txt\n+1\n*** Add File: new.txt\n+2\n"), "appeared")
	if now := w.listed(); slices.Contains(now, "New.txt") || slices.Contains(now, "new.txt") {
		t.Errorf("half a patch was written: %v", now)
	}
}

// listed returns the names in the project's folder.
func (w *world) listed() []string {
	w.t.Helper()
	entries, err := os.ReadDir(w.dir)
	must(w.t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestMoveKeepsTheFile: a moved file keeps all that belongs to it, also if its
// text changes on the way.
func TestMoveKeepsTheFile(t *testing.T) {
	t.Parallel()
	for _, mode := range []os.FileMode{0o600, 0o640, 0o644, 0o755, 0o700} {
		for name, sections := range map[string]string{
			"moved":             "*** Move File: a.sh -> d/b.sh\n",
			"moved and updated": "*** Update File: a.sh\n*** Move to: d/b.sh\n-one\n+1\n",
			"moved twice":       "*** Move File: a.sh -> c.sh\n*** Move File: c.sh -> d/b.sh\n",
			"replaced by a new": "*** Move File: a.sh -> d/b.sh\n*** Add File: a.sh\n+new\n",
			"over a deleted":    "*** Delete File: old.sh\n*** Move File: a.sh -> old.sh\n*** Move File: old.sh -> d/b.sh\n",
		} {
			for _, across := range []bool{false, true} {
				w := newWorld(t)
				w.env.across = across
				w.put("old.sh", "old\n")
				must(t, os.Chmod(w.put("a.sh", "one\ntwo\n"), mode))
				was := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
				must(t, os.Chtimes(w.path("a.sh"), was, was))
				before, err := os.Stat(w.path("a.sh"))
				must(t, err)
				w.ok("patch", whole(sections))
				info, err := os.Stat(w.path("d/b.sh"))
				if err != nil || info.Mode().Perm() != mode {
					t.Errorf("%s (%v): %v, the mode is not kept: want %o", name, across, err, mode)
					continue
				}
				if name == "moved" && !across && (!os.SameFile(before, info) || !info.ModTime().Equal(was)) {
					t.Errorf("%s: another file is there now", name)
				}
				if want := strings.Replace("one\ntwo\n", "one", map[bool]string{true: "1", false: "one"}[strings.Contains(name, "updated")], 1); w.has("d/b.sh") != want {
					t.Errorf("%s: got %q", name, w.has("d/b.sh"))
				}
				if want := map[bool]string{true: "new\n", false: "<missing>"}[strings.Contains(name, "new")]; w.has("a.sh") != want {
					t.Errorf("%s: the old name has %q", name, w.has("a.sh"))
				}
			}
		}
	}
}

// TestMoveOntoADeletedFile replaces it and keeps the mode of the moved one.
func TestMoveOntoADeletedFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, os.Chmod(w.put("secret", "s\n"), 0o600))
	w.put("b.txt", "b\n")
	w.ok("read_file", args{"path": "b.txt"})
	w.ok("patch", whole("*** Delete File: b.txt\n*** Move File: secret -> b.txt\n"))
	info, err := os.Stat(w.path("b.txt"))
	if err != nil || info.Mode().Perm() != 0o600 || w.has("b.txt") != "s\n" || w.has("secret") != "<missing>" {
		t.Errorf("got %v %v %q", info, err, w.has("b.txt"))
	}
}

// TestMoveOntoADeletedFileIsNoSurprise: what is told about the change is true for the
// moved file, not for the one that had the name before.
func TestMoveOntoADeletedFileIsNoSurprise(t *testing.T) {
	t.Parallel()
	for _, across := range []bool{false, true} {
		for linked, want := range map[string]bool{"b.txt": false, "a.txt": !across} {
			w := newWorld(t)
			w.env.across = across
			w.put("a.txt", "one\ntwo\n")
			w.put("b.txt", "b\n")
			must(t, os.Link(w.path(linked), w.path("other.txt")))
			w.ok("read_file", args{"path": "b.txt"})
			got := w.ok("patch", whole("*** Delete File: b.txt\n*** Update File: a.txt\n*** Move to: b.txt\n-one\n+1\n"))
			warning, _ := got["_warning"].(string)
			if strings.Contains(warning, "hard link") != want || strings.Contains(warning, "changed on disk") || w.has("b.txt") != "1\ntwo\n" {
				t.Errorf("%s has another name (%v): warning %q, text %q", linked, across, warning, w.has("b.txt"))
			}
		}
	}
}

// TestFailedMoveIsUndone: after a failure every file is as it was, with its mode.
func TestFailedMoveIsUndone(t *testing.T) {
	t.Parallel()
	for _, across := range []bool{false, true} {
		for _, breaks := range []string{"d/b.sh", "new.txt", "last.txt"} {
			w := newWorld(t)
			w.env.across = across
			must(t, os.Chmod(w.put("a.sh", "one\n"), 0o700))
			must(t, os.Chmod(w.put("over.txt", "over\n"), 0o640))
			must(t, os.Chmod(w.put("onto", "onto\n"), 0o600))
			must(t, os.Chmod(w.put("gone.txt", "gone\n"), 0o600))
			w.put("last.txt", "last\n")
			w.ok("read_file", args{"path": "onto"})
			w.env.fail = func(path string) error {
				if strings.HasSuffix(filepath.ToSlash(path), "/"+breaks) {
					return errBroken
				}
				return nil
			}
			w.refused("patch", whole("*** Delete File: onto\n*** Move File: over.txt -> onto\n*** Update File: a.sh\n*** Move to: d/b.sh\n-one\n+1\n*** Add File: new.txt\n+n\n*** Delete File: gone.txt\n*** Delete File: last.txt\n"), "every file is as it was before")
			for name, want := range map[string]struct {
				text string
				mode os.FileMode
			}{"a.sh": {"one\n", 0o700}, "over.txt": {"over\n", 0o640}, "onto": {"onto\n", 0o600}, "gone.txt": {"gone\n", 0o600}, "last.txt": {"last\n", 0o644}} {
				info, err := os.Stat(w.path(name))
				if err != nil || info.Mode().Perm() != want.mode || w.has(name) != want.text {
					t.Errorf("%s breaks (%v): %s has %q, %v", breaks, across, name, w.has(name), err)
				}
			}
			if w.has("d/b.sh") != "<missing>" || w.has("new.txt") != "<missing>" {
				t.Errorf("%s breaks (%v): new files stay", breaks, across)
			}
		}
	}
}

// TestAMoveIsNoChangeByOthers: the session knows where its file went, and notices
// when somebody else changes it there.
func TestAMoveIsNoChangeByOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a.txt", "one\n")
	w.ok("read_file", args{"path": "a.txt"})
	w.ok("patch", whole("*** Move File: a.txt -> b.txt\n"))
	if got := w.set.Changed(""); len(got) > 0 {
		t.Errorf("reported as changed: %v", got)
	}
	w.put("b.txt", "one and two\n")
	got := w.ok("patch", args{"path": "b.txt", "old_string": "one", "new_string": "1"})
	if warning, _ := got["_warning"].(string); !strings.Contains(warning, "changed on disk") {
		t.Errorf("no warning: %v", got)
	}
}

// TestAnUndonePatchIsNoChangeByOthers: after a failure the session knows the files
// as they were restored.
func TestAnUndonePatchIsNoChangeByOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a.txt", "one\n")
	w.put("b.txt", "two\n")
	w.ok("read_file", args{"path": "a.txt"})
	w.env.fail = func(path string) error {
		if filepath.Base(path) == "b.txt" {
			return errBroken
		}
		return nil
	}
	w.refused("patch", whole("*** Update File: a.txt\n-one\n+1\n*** Delete File: b.txt\n"), "as it was before")
	if got := w.set.Changed(""); len(got) > 0 || w.has("a.txt") != "one\n" {
		t.Errorf("reported as changed: %v, %q", got, w.has("a.txt"))
	}
}

// TestLinksAreDeletedLast: a link cannot be restored, so nothing may fail after it.
func TestLinksAreDeletedLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a.txt", "one\n")
	w.put("b.txt", "two\n")
	must(t, os.Symlink("a.txt", w.path("link.txt")))
	w.env.fail = func(path string) error {
		if filepath.Base(path) == "b.txt" {
			return errBroken
		}
		return nil
	}
	w.refused("patch", whole("*** Delete File: link.txt\n*** Delete File: b.txt\n"), "every file is as it was before")
	if to, err := os.Readlink(w.path("link.txt")); err != nil || to != "a.txt" {
		t.Errorf("the link is gone: %s %v", to, err)
	}
}

// TestAMoveReplacesNoNewFile: a file that another program makes under the new name,
// after the patch was checked, stays.
func TestAMoveReplacesNoNewFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a.txt", "one\n")
	w.put("b.txt", "two\n")
	w.env.fail = func(path string) error {
		if filepath.Base(path) == "a2.txt" {
			w.put("b2.txt", "theirs\n")
		}
		return nil
	}
	w.refused("patch", whole("*** Move File: a.txt -> a2.txt\n*** Move File: b.txt -> b2.txt\n"), "just appeared")
	if w.has("b2.txt") != "theirs\n" || w.has("a.txt") != "one\n" || w.has("b.txt") != "two\n" {
		t.Errorf("got %q, %q and %q", w.has("b2.txt"), w.has("a.txt"), w.has("b.txt"))
	}
}

// TestBigFilesAreNotChanged: what would need too much memory is left to commands.
func TestBigFilesAreNotChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, os.Truncate(w.put("big", "one\n"), 64<<20+1))
	w.refused("patch", args{"path": "big", "old_string": "one", "new_string": "1"}, "use the terminal tool")
}
