package file_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/tool/file"
)

func TestWriteCreatesAndReplaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.ok("write_file", args{"path": "a/b/c.txt", "content": "hé\n"})
	want := args{"bytes_written": 4.0, "resolved_path": w.path("a/b/c.txt"), "files_created": []any{w.path("a/b/c.txt")}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	must(t, os.Chmod(w.path("a/b/c.txt"), 0o755))
	got = w.ok("write_file", args{"path": "a/b/c.txt", "content": "x"})
	if got["files_modified"] == nil || w.has("a/b/c.txt") != "x" {
		t.Errorf("got %v", got)
	}
	if info, err := os.Stat(w.path("a/b/c.txt")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the mode is kept: %v %v", info.Mode(), err)
	}
}

// TestReadOnlyFilesStay: a rename over a file needs no permission on the file, so
// nothing else would protect a read-only one.
func TestReadOnlyFilesStay(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]args{
		"write_file": {"path": "keep.txt", "content": "gone\n"},
		"patch":      {"path": "keep.txt", "old_string": "keep", "new_string": "gone"},
	} {
		w := newWorld(t)
		must(t, os.Chmod(w.put("keep.txt", "keep\n"), 0o444))
		w.refused(name, a, "is read-only")
		if got := w.has("keep.txt"); got != "keep\n" {
			t.Errorf("%s: the file now has %q", name, got)
		}
	}
	w := newWorld(t)
	must(t, os.Chmod(w.put("keep.txt", "keep\n"), 0o444))
	w.refused("patch", args{"mode": "patch", "patch": "*** Begin Patch\n*** Delete File: keep.txt\n*** End Patch"}, "is read-only")
	if got := w.has("keep.txt"); got != "keep\n" {
		t.Errorf("the file now has %q", got)
	}
}

// TestWriteSaysWhatIsInTheWay checks that errors do not name system calls and modes.
func TestWriteSaysWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f.txt", "x")
	must(t, os.Mkdir(w.path("folder"), 0o755))
	for path, want := range map[string]string{
		"folder":  "is a folder: name a file in it",
		"f.txt/x": "is a file, not a folder",
	} {
		w.refused("write_file", args{"path": path, "content": "x"}, want)
	}
}

// TestEveryChangeKeepsLineEndsAndByteOrderMark is about what read_file does not show: in a Windows file,
// changing one line must not change every line.
func TestEveryChangeKeepsLineEndsAndByteOrderMark(t *testing.T) {
	t.Parallel()
	const before = "\ufeffone\r\ntwo\r\nthree\r\n"
	for name, c := range map[string]struct {
		tool string
		args args
		want string
	}{
		"write_file":        {"write_file", args{"path": "f.txt", "content": "one\n2\nthree\nfour\n"}, "\ufeffone\r\n2\r\nthree\r\nfour\r\n"},
		"patch, replace":    {"patch", args{"path": "f.txt", "old_string": "two\nthree\n", "new_string": "2\nthree\nfour\n"}, "\ufeffone\r\n2\r\nthree\r\nfour\r\n"},
		"patch, first line": {"patch", args{"path": "f.txt", "old_string": "one", "new_string": "zero\none"}, "\ufeffzero\r\none\r\ntwo\r\nthree\r\n"},
		"patch, V4A":        {"patch", args{"mode": "patch", "patch": "*** Begin Patch\n*** Update File: f.txt\n@@\n one\n-two\n+2\n three\n+four\n*** End Patch"}, "\ufeffone\r\n2\r\nthree\r\nfour\r\n"},
	} {
		w := newWorld(t)
		must(t, os.WriteFile(w.path("f.txt"), []byte(before), 0o600))
		w.ok("read_file", args{"path": "f.txt"})
		got := w.ok(c.tool, c.args)
		if now := w.has("f.txt"); now != c.want {
			t.Errorf("%s: got %q, want %q", name, now, c.want)
		}
		if c.tool == "write_file" && (got["note"] != "the file keeps CRLF line ends and its byte order mark" || got["bytes_written"] != float64(len(c.want))) {
			t.Errorf("the note does not say what is kept: %v", got)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, os.MkdirAll(filepath.Join(w.home, ".ssh"), 0o700))
	must(t, os.Symlink(filepath.Join(w.home, ".ssh"), w.path("keys")))
	must(t, os.MkdirAll(filepath.Join(w.home, ".hermes"), 0o700))
	must(t, os.Symlink(filepath.Join(w.home, ".hermes", "config.yaml"), w.path("settings.yaml")))
	must(t, os.MkdirAll(w.path(".git/hooks"), 0o755))
	must(t, os.Symlink(w.path(".git/hooks"), w.path("hooks")))
	for path, want := range map[string]string{
		"":                               "path is empty",
		"~/.ssh/authorized_keys":         "credentials",
		"../.ssh/authorized_keys":        "credentials",
		"keys/authorized_keys":           "credentials",
		"settings.yaml":                  "Hermes' own",
		"~/.hermes/new/deep/config.yaml": "Hermes' own",
		"~/.hermes/skills/x/SKILL.md":    "skill_manage",
		".env":                           "environment files",
		"sub/.env.local":                 "environment files",
		".git/hooks/pre-commit":          "hooks",
		"hooks/pre-commit":               "hooks",
		".git/config":                    "git's configuration",
		"/etc/passwd":                    "must not write",
		"/etc/../etc/sudoers.d/x":        "must not write",
		".git":                           "is a folder",
		"/dev/full":                      "device",
	} {
		w.refused("write_file", args{"path": path, "content": "x"}, want)
	}
	if entries, err := os.ReadDir(filepath.Join(w.home, ".ssh")); err != nil || len(entries) > 0 {
		t.Errorf("something was written: %v %v", entries, err)
	}
	w.ok("write_file", args{"path": ".env.example", "content": "x"})
	w.ok("write_file", args{"path": filepath.Join(t.TempDir(), "x"), "content": "x"})

	w.put("f", "real text\n")
	w.ok("read_file", args{"path": "f"})
	notice := w.ok("read_file", args{"path": "f"})["note"]
	w.refused("write_file", args{"path": "f", "content": notice}, "notice")
	w.refused("write_file", args{"path": "f", "content": "1|package main\n2|\n3|func main() {}\n"}, "line numbers")
	w.refused("patch", args{"path": "f", "old_string": "real", "new_string": "7|a\n8|b\n"}, "line numbers")
	if got := w.has("f"); got != "real text\n" {
		t.Errorf("the file changed: %q", got)
	}
	w.ok("write_file", args{"path": "table", "content": "1|a\n5|b\n"})
	w.ok("write_file", args{"path": "one", "content": "1|a\n"})
}

func TestWriteWithinSafeRoots(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	real, err := filepath.EvalSymlinks(root)
	must(t, err)
	w := newWorldWith(t, file.Config{SafeRoots: []string{real}})
	w.refused("write_file", args{"path": "x", "content": "x"}, "limited to")
	w.ok("write_file", args{"path": filepath.Join(real, "x"), "content": "x"})
}

func TestWriteAsksForSomePaths(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tool, ok := w.tool("write_file").(hermes.RiskAssessor)
	if !ok {
		t.Fatal("write_file reviews its calls")
	}
	for path, want := range map[string]int{"~/.ssh/config": 1, "~/.bashrc": 1, "main.go": 0} {
		if got := tool.AssessRisk(t.Context(), w.call("write_file", args{"path": path, "content": "x"})); len(got) != want {
			t.Errorf("%s: %v, want %d", path, got, want)
		}
	}
	if got := tool.AssessRisk(t.Context(), w.call("write_file", args{"path": "~/.ssh/id_rsa", "content": "x"})); len(got) != 1 || !got[0].Deny || !strings.Contains(got[0].Reason, "must not write") {
		t.Errorf("what the tool refuses: %v", got)
	}
	patches := w.tool("patch").(hermes.RiskAssessor)
	text := "*** Begin Patch\n*** Add File: a\n+x\n*** Move File: b -> " + filepath.Join(w.home, ".profile") + "\n*** End Patch"
	if got := patches.AssessRisk(t.Context(), w.call("patch", args{"mode": "patch", "patch": text})); len(got) != 1 || got[0].Key != "path:shell-start-file" {
		t.Errorf("got %v", got)
	}
}

// TestSubjectHasTheFileThatALinkLeadsTo points a link elsewhere after the user has
// allowed a change of what it led to.
func TestSubjectHasTheFileThatALinkLeadsTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for tool, a := range map[string]args{
		"write_file": {"path": "notes.txt", "content": "x"},
		"patch":      {"path": "notes.txt", "old_string": "a", "new_string": "b"},
	} {
		for _, target := range []string{".bashrc", ".profile"} {
			target = filepath.Join(w.home, target)
			must(t, os.WriteFile(target, []byte("a\n"), 0o600))
			_ = os.Remove(w.path("notes.txt")) // none at first
			if err := os.Symlink(target, w.path("notes.txt")); err != nil {
				t.Skip(err)
			}
			if s := w.tool(tool).(hermes.SubjectNamer).Subject(t.Context(), w.call(tool, a)); !strings.Contains(s.Text, filepath.Base(target)) {
				t.Errorf("%s: the user is shown %q", tool, s.Text)
			}
		}
	}
}

func TestWriteReportsOnlyNewSyntaxErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, old, new, want string // want is part of the errors, "" for ok, "-" for no check
	}{
		{"a.json", "", `{"a": 1}`, ""},
		{"a.json", "", "{\n\"a\": 1,\n}", "line 3"},
		{"a.json", "", `{"a": [1`, "ends before"},
		{"a.json", "", `{} {}`, "after the end"},
		{"a.yaml", "", "a: 1\nb:\n  - x\n", ""},
		{"a.yml", "", "a: [1\nb: 2\n", "line"},
		{"a.yaml", "", "a: 1\n---\nb: {\n", "line"},
		{"a.go", "", "package a\n\nfunc f() {\n", "line"},
		{"a.go", "", "package a\n", ""},
		{"a.go", "package a\nfunc f( {\n", "package a\n\nfunc f( {\n", ""},
		{"a.json", `{"a": }`, `{"b": }`, ""},
		{"a.toml", "", "a = 1\n[t]\nb.'c d' = [1, 2, # x\n 3]\nd = {x = \"y\", z = 1979-05-27 07:32:00}\ne = \"\"\"\nq\"\"\"\n[[l]]\nf = +1.5e3 # c\n", ""},
		{"a.toml", "", "a = 1\nb = hello\n", "line 2"},
		{"a.toml", "", "[t\n", "line 1"},
		{"a.toml", "", "a = 1\n\na = 2\n", "line 3: key a is already defined"},
		{"a.toml", "", "a = 1979-13-40\n", "line 1: impossible date"},
		{"a.toml", "", "a = " + strings.Repeat("[", 1<<20), "nested"},
		{"a.toml", "", "a = \"x\n", "strings cannot have new lines"},
		{"a.toml", "", "a = [1, 2\n", "array is incomplete"},
		{"tsconfig.json", "", "// c\n{}", "-"},
		{"a.txt", "", "{", "-"},
	}
	for i, tt := range tests {
		t.Run(fmt.Sprintf("%d %s", i, tt.name), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tt.old != "" {
				w.put(tt.name, tt.old)
				w.ok("read_file", args{"path": tt.name})
			}
			got := w.ok("write_file", args{"path": tt.name, "content": tt.new})
			all, _ := got["lint"].(args)
			lint, _ := all[w.path(tt.name)].(args)
			switch tt.want {
			case "-":
				if lint != nil {
					t.Errorf("not checked, got %v", lint)
				}
			case "":
				if lint["status"] != "ok" {
					t.Errorf("got %v, want ok", lint)
				}
			default:
				if lint["status"] != "error" || !strings.Contains(fmt.Sprint(lint["errors"]), tt.want) {
					t.Errorf("got %v, want an error with %q", lint, tt.want)
				}
			}
			if w.has(tt.name) != tt.new {
				t.Error("the file was not written")
			}
		})
	}
}

// TestNothingUnseenIsReplaced: write_file replaces only what the session has read or written as it is now.
func TestNothingUnseenIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.put("f", "one\n")
	w.refused("write_file", args{"path": "f", "content": "two\n"}, "have not read")
	w.refused("write_file", args{"path": "f", "content": "two\n"}, "have not read")
	if got := w.ok("write_file", args{"path": "f", "content": "one\n"}); got["_warning"] != nil { // nothing is lost
		t.Errorf("%v", got)
	}
	w.ok("write_file", args{"path": "f", "content": "two\n"})
	if w.has("f") != "two\n" {
		t.Errorf("%q", w.has("f"))
	}
	// The same size, and a time that is set back: the text decides.
	info, err := os.Stat(path)
	must(t, err)
	must(t, os.WriteFile(path, []byte("TWO\n"), 0o644))
	must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	w.refused("write_file", args{"path": "f", "content": "three\n"}, "changed on disk")
	w.ok("read_file", args{"path": "f"})
	w.ok("write_file", args{"path": "f", "content": "three\n"})
	// Only another time: the text is as it was.
	must(t, os.Chtimes(path, time.Now(), time.Now().Add(time.Minute)))
	if got := w.ok("write_file", args{"path": "f", "content": "four\n"}); got["_warning"] != nil {
		t.Errorf("%v", got)
	}
	// A change in the middle does not lose what others changed elsewhere.
	must(t, os.WriteFile(path, []byte("four\nfive\n"), 0o644))
	if got := w.ok("patch", args{"path": "f", "old_string": "four", "new_string": "4"}); !strings.Contains(fmt.Sprint(got["_warning"]), "changed on disk") || w.has("f") != "4\nfive\n" {
		t.Errorf("%v, %q", got, w.has("f"))
	}
	must(t, os.WriteFile(path, []byte("others wrote it\n"), 0o644))
	must(t, os.Chtimes(path, time.Now(), time.Now().Add(time.Hour)))
	w.refused("patch", whole("*** Delete File: f\n"), "changed on disk")
	if w.has("f") != "others wrote it\n" {
		t.Errorf("%q", w.has("f"))
	}
	for name, text := range map[string]string{"empty": "", "binary": "\x00\x01"} {
		w.put(name, text)
		w.ok("write_file", args{"path": name, "content": "x\n"})
	}
	trusting := newWorldWith(t, file.Config{TrustWrites: true})
	trusting.put("f", "one\n")
	if got := trusting.ok("write_file", args{"path": "f", "content": "x"}); got["_warning"] != nil {
		t.Errorf("the guard is off: %v", got)
	}
}

// TestAPatchReplacesNothingUnseen: what a patch deletes or puts something else in the place of is what the
// session has seen.
func TestAPatchReplacesNothingUnseen(t *testing.T) {
	t.Parallel()
	const (
		moved  = "*** Delete File: f\n*** Move File: src -> f\n"
		edited = "*** Delete File: f\n*** Update File: src\n*** Move to: f\n-new\n+newer\n"
		added  = "*** Delete File: f\n*** Add File: f\n+new\n"
		gone   = "*** Delete File: f\n"
	)
	for _, across := range []bool{false, true} {
		for _, text := range []string{moved, edited, added, gone} {
			w := newWorld(t)
			w.env.across = across
			path := w.put("f", "one\n")
			w.put("src", "new\n")
			if text != gone {
				w.refused("patch", whole(text), "have not read")
			}
			w.ok("read_file", args{"path": "f"})
			info, err := os.Stat(path)
			must(t, err)
			// The same size, and a time that is set back: the text decides.
			must(t, os.WriteFile(path, []byte("ONE\n"), 0o644))
			must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
			w.refused("patch", whole(text), "changed on disk")
			if w.has("f") != "ONE\n" || w.has("src") != "new\n" {
				t.Errorf("%q: now there are %q and %q", text, w.has("f"), w.has("src"))
			}
			w.ok("read_file", args{"path": "f"})
			w.ok("patch", whole(text))
			trusting := newWorldWith(t, file.Config{TrustWrites: true})
			trusting.put("f", "one\n")
			trusting.put("src", "new\n")
			trusting.ok("patch", whole(text))
		}
	}
}

// TestTextThatCannotBeReadIsNotReplaced: a text that is too large, or that read_file does not show, is not
// replaced without a word.
func TestTextThatCannotBeReadIsNotReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	large := w.put("large.txt", strings.Repeat("a line of text\n", 1000))
	must(t, os.Truncate(large, 64<<20+1)) // the rest has no blocks
	for name, text := range map[string]string{
		"mark.txt": "\xff\xfeh\x00i\x00", "little.txt": "t\x00e\x00x\x00t\x00 \x00o\x00f\x00 \x00t\x00w\x00o\x00", "big.txt": "\x00t\x00e\x00x\x00t\x00\n",
	} {
		w.put(name, text)
		w.refused("write_file", args{"path": name, "content": "x\n"}, "UTF-16 text")
		if w.has(name) != text {
			t.Errorf("%s: %q", name, w.has(name))
		}
	}
	w.refused("write_file", args{"path": "large.txt", "content": "x\n"}, "move it away or delete it")
	if info, err := os.Stat(large); err != nil || info.Size() != 64<<20+1 {
		t.Errorf("%v %v", info, err)
	}
	for name, text := range map[string]string{"blob": "\x00\x01\x00\x02\x00\x03\x00\x04", "data": "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00"} {
		w.put(name, text)
		w.ok("write_file", args{"path": name, "content": "x\n"})
	}
	must(t, os.Remove(large))
	w.ok("write_file", args{"path": "large.txt", "content": "x\n"})
}

// TestAPageIsNotTheWholeFile: what was not read of a file is not replaced with it, however the pages come.
func TestAPageIsNotTheWholeFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	all := b.String()
	page := func(offset, limit int) {
		t.Helper()
		w.ok("read_file", args{"path": "f", "offset": offset, "limit": limit})
	}
	refused := func(missing string) {
		t.Helper()
		w.refused("write_file", args{"path": "f", "content": "new\n"}, "as it is now: "+missing+".")
	}
	written := func() {
		t.Helper()
		w.ok("write_file", args{"path": "f", "content": "new\n"})
		w.ok("write_file", args{"path": "f", "content": all})
	}
	begin := func() {
		w = newWorld(t)
		w.put("f", all)
	}

	begin()
	page(1, 40)
	refused("lines 41 to 100")
	page(81, 40)
	refused("lines 41 to 80")
	page(30, 20)
	refused("lines 50 to 80")
	page(50, 31)
	written()

	begin() // but the last line
	page(1, 99)
	refused("lines 100 to 100")
	page(100, 1)
	written()

	begin()
	page(50, 10)
	refused("lines 1 to 49")
	page(1, 60)
	refused("lines 61 to 100")
	page(61, 100)
	written()

	begin() // pages of another state do not count
	page(1, 40)
	w.put("f", strings.Replace(all, "line 5\n", "LINE 5\n", 1))
	page(41, 60)
	refused("lines 1 to 40")
	page(1, 40)
	w.ok("write_file", args{"path": "f", "content": "new\n"})

	begin() // a change of a part shows no more of the rest, and takes nothing away
	w.ok("patch", args{"path": "f", "old_string": "line 7\n", "new_string": "seven\n"})
	w.refused("write_file", args{"path": "f", "content": "new\n"}, "not read all of")
	page(1, 200)
	w.ok("patch", args{"path": "f", "old_string": "line 8\n", "new_string": "eight\n"})
	w.ok("write_file", args{"path": "f", "content": "new\n"})

	begin() // a change of a part beside a change by others, which was not read
	page(1, 200)
	w.put("f", strings.Replace(all, "line 5\n", "LINE 5\n", 1))
	w.ok("patch", args{"path": "f", "old_string": "line 7\n", "new_string": "seven\n"})
	w.refused("write_file", args{"path": "f", "content": "new\n"}, "not read all of")

	begin() // a moved file is known as before
	page(1, 200)
	w.ok("patch", whole("*** Move File: f -> g\n"))
	w.ok("write_file", args{"path": "g", "content": "new\n"})
}

// TestEditsOfOtherSessionsAreTold: no session replaces what another one wrote meanwhile, and each learns that the
// other works on the file.
func TestEditsOfOtherSessionsAreTold(t *testing.T) {
	t.Parallel()
	now := time.Now()
	w := newWorldWith(t, file.Config{Now: func() time.Time { return now }})
	w.put("f", "one\ntwo\n")
	as := func(session string) { w.env.session = session }
	as("a")
	w.ok("read_file", args{"path": "f"})
	as("b")
	w.ok("read_file", args{"path": "f"})
	w.ok("write_file", args{"path": "f", "content": "one\n2\n"})
	now = now.Add(90 * time.Second)
	as("a")
	w.refused("write_file", args{"path": "f", "content": "1\ntwo\n"}, "another session (b) changed")
	if got := w.ok("patch", args{"path": "f", "old_string": "one", "new_string": "1"}); !strings.Contains(fmt.Sprint(got["_warning"]), "another session (b) changed") || w.has("f") != "1\n2\n" {
		t.Errorf("%v, %q", got, w.has("f"))
	}
	as("b")
	w.ok("read_file", args{"path": "f"})
	now = now.Add(90 * time.Second)
	if got := w.ok("write_file", args{"path": "f", "content": "1\n2\n3\n"}); !strings.Contains(fmt.Sprint(got["_warning"]), "another session (a) wrote") || !strings.Contains(fmt.Sprint(got["_warning"]), "1m30s ago") {
		t.Errorf("%v", got)
	}
	as("c")
	w.ok("read_file", args{"path": "f"})
	now = now.Add(time.Hour)
	if got := w.ok("write_file", args{"path": "f", "content": "1\n2\n3\n4\n"}); got["_warning"] != nil {
		t.Errorf("long ago: %v", got)
	}
}

func TestFullDiskKeepsTheOldFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f", "old\n")
	w.ok("read_file", args{"path": "f"})
	w.env.fail = func(path string) error {
		return &os.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
	}
	w.refused("write_file", args{"path": "f", "content": "new\n"}, "the disk is full")
	w.refused("patch", args{"path": "f", "old_string": "old", "new_string": "new"}, "as it was before")
	if got := w.has("f"); got != "old\n" {
		t.Errorf("got %q", got)
	}
	w.env.fail = func(path string) error { return &os.PathError{Op: "write", Path: path, Err: syscall.EACCES} }
	w.refused("write_file", args{"path": "f", "content": "new\n"}, "no permission")
}

func TestConcurrentPatchesLoseNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, "item %02d: open\n", i)
	}
	w.put("list", text.String())
	must(t, os.Symlink("list", w.path("alias")))
	tool := w.tool("patch")
	var wg sync.WaitGroup
	for i := range 30 {
		name := "list"
		if i%2 == 1 {
			name = "alias"
		}
		w.env.session = fmt.Sprint("child ", i%3)
		call := w.call("patch", args{"path": name, "old_string": fmt.Sprintf("item %02d: open", i), "new_string": fmt.Sprintf("item %02d: done", i)})
		wg.Go(func() {
			if _, err := tool.Run(context.Background(), call); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := w.has("list"); strings.Contains(got, "open") {
		t.Errorf("changes were lost:\n%s", got)
	}
}

// TestPatchesOfSeveralFilesDoNotWaitForEachOther: they name the same files in different orders.
func TestPatchesOfSeveralFilesDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a", "one\n")
	w.put("b", "one\n")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for i := range 40 {
		first, second := "a", "b"
		if i%2 == 1 {
			first, second = second, first
		}
		w.env.session = fmt.Sprint("child ", i%2)
		call := w.call("patch", whole(fmt.Sprintf("*** Update File: %s\n-one\n+one\n+x%d\n*** Update File: %s\n-one\n+one\n+y%d\n", first, i, second, i)))
		wg.Go(func() {
			if _, err := w.tool("patch").Run(ctx, call); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if a, b := strings.Count(w.has("a"), "\n"), strings.Count(w.has("b"), "\n"); a != 41 || b != 41 {
		t.Errorf("%d and %d lines", a, b)
	}
}

func TestSpecsAreSmall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tools, err := w.set.Tools(t.Context())
	must(t, err)
	for _, tool := range tools {
		s := tool.Spec()
		if n := len(s.Description) + len(s.Schema); n > 1400 {
			t.Errorf("%s takes %d bytes of every request", s.Name, n)
		} else {
			t.Logf("%s: %d + %d bytes", s.Name, len(s.Description), len(s.Schema))
		}
	}
}

var errBroken = errors.New("broken")

// TestWriteAsksEachTimeForPrograms: what the user starts by its name is not written without
// a question, and no grant covers the next one.
func TestWriteAsksEachTimeForPrograms(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no mode says there that a file is a program")
	}
	apps := realTemp(t)
	w := newWorldWith(t, file.Config{Program: filepath.Join(apps, "hermes"), Path: []string{filepath.Join(apps, "bin")}})
	for path, mode := range map[string]os.FileMode{"hermes": 0o700, "bin/tool": 0o600, "other/run.sh": 0o700, "other/notes.txt": 0o600, "x": 0o600} {
		at := filepath.Join(apps, path)
		must(t, os.MkdirAll(filepath.Dir(at), 0o700))
		must(t, os.WriteFile(at, []byte("x"), mode))
	}
	must(t, os.WriteFile(filepath.Join(w.dir, "build.sh"), []byte("x"), 0o700))
	must(t, os.Symlink(filepath.Join(apps, "hermes"), filepath.Join(w.dir, "link")))
	tool := w.tool("write_file").(hermes.RiskAssessor)
	for path, want := range map[string]bool{
		apps + "/hermes": true, "link": true, apps + "/bin/tool": true, apps + "/bin/new": true, apps + "/other/run.sh": true, "~/.hermes/cache/sandbox/p/tmp/x": true,
		apps + "/other/notes.txt": false, apps + "/other/new": false, "build.sh": false, "main.go": false, "~/.hermes/cache/x": false, apps + "/bin/share/x": false,
	} {
		got := tool.AssessRisk(t.Context(), w.call("write_file", args{"path": path, "content": "x"}))
		if asks := len(got) == 1 && got[0].Once && got[0].NoRemember; asks != want || len(got) > 1 {
			t.Errorf("%s: %+v, want %v", path, got, want)
		}
	}
	patch := "*** Begin Patch\n*** Add File: " + apps + "/bin/new\n+x\n*** End Patch"
	if got := w.tool("patch").(hermes.RiskAssessor).AssessRisk(t.Context(), w.call("patch", args{"mode": "patch", "patch": patch})); len(got) != 1 || !got[0].Once {
		t.Errorf("patch: %+v", got)
	}
}

func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}
