package plugin_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/plugin"
	"hermes/internal/plugin/source"
)

// sources are two versions of a plugin, with files of different numbers and sizes.
func sources(t *testing.T) (versions [2]string) {
	t.Helper()
	for i := range versions {
		versions[i] = filepath.Join(t.TempDir(), "words")
		if _, err := plugin.Create(versions[i], "words", "python"); err != nil {
			t.Fatal(err)
		}
		for n := range 20 * (i + 1) {
			if err := os.WriteFile(filepath.Join(versions[i], fmt.Sprintf("file-%d", n)), []byte(strings.Repeat(fmt.Sprint(i), 1000)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return versions
}

// replace installs a plugin from a folder over another one.
func replace(t *testing.T, folder, from string) (digest string) {
	t.Helper()
	s, err := source.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	i, err := plugin.Begin(t.Context(), folder, source.Tools{})
	if err != nil {
		t.Fatal(err)
	}
	staged, err := i.Stage(t.Context(), s)
	if err == nil {
		err = i.Put(staged, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := i.Close(); err != nil {
		t.Fatal(err)
	}
	return digestOf(t, folder)
}

func digestOf(t *testing.T, folder string) string {
	t.Helper()
	d, err := plugin.Digest(filepath.Join(folder, "words"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// names are the entries of the folder of plugins without the lock.
func names(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		if e.Name() != ".install.lock" && e.Name() != ".source-key" {
			list = append(list, e.Name())
		}
	}
	return strings.Join(list, " ")
}

const replacing = "REPLACE_A_PLUGIN_IN"

// TestReplacer is the program that TestAKillLeavesTheOldOrTheNewPlugin kills.
func TestReplacer(t *testing.T) {
	words := strings.Split(os.Getenv(replacing), "\n")
	if len(words) != 3 {
		t.Skip("it is for another test")
	}
	for n := 0; ; n++ {
		replace(t, words[0], words[1+n%2])
		if n == 1 {
			fmt.Println("begun")
		}
	}
}

// TestAKillLeavesTheOldOrTheNewPlugin, whole, at whatever moment of a replacement it comes, and the
// next command cleans up.
func TestAKillLeavesTheOldOrTheNewPlugin(t *testing.T) {
	t.Parallel()
	folder, versions := t.TempDir(), sources(t)
	digests := []string{replace(t, folder, versions[0]), replace(t, folder, versions[1])}
	for round := range 12 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestReplacer$")
		cmd.Env = append(os.Environ(), replacing+"="+strings.Join([]string{folder, versions[0], versions[1]}, "\n"))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 5)); err != nil {
			t.Error("the program did not begin:", err)
		}
		time.Sleep(time.Duration(round) * 1700 * time.Microsecond) // any moment will do
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		if err := plugin.Recover(t.Context(), folder); err != nil {
			t.Fatal(err)
		}
		if got := names(t, folder); got != "words" {
			t.Errorf("left: %s", got)
		}
		if d := digestOf(t, folder); d != digests[0] && d != digests[1] {
			t.Error("it is neither the old nor the new one")
		}
	}
}

// TestLeftoversAreCleanedUp, each that a kill can leave.
func TestLeftoversAreCleanedUp(t *testing.T) {
	t.Parallel()
	versions := sources(t)
	for _, c := range []struct{ what, from, to, want string }{
		{"fetched, not in place", "", ".new-1", "words"}, {"a repository", "", ".new-1.git-2", "words"}, {"the old one moved away", "words", ".old-words", "words"},
		{"the old one not removed", "", ".old-words", "words"}, {"removed", "words", ".gone-1", ""}, {"of no plugin", "", ".old-1", "words"},
	} {
		folder := t.TempDir()
		digest := replace(t, folder, versions[0])
		to := filepath.Join(folder, c.to)
		var err error
		if c.from != "" {
			err = os.Rename(filepath.Join(folder, c.from), to)
		} else {
			err = os.CopyFS(to, os.DirFS(versions[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
		i, err := plugin.Begin(t.Context(), folder, source.Tools{})
		if err != nil {
			t.Fatal(err)
		}
		if got := names(t, folder); got != c.want || c.want != "" && digestOf(t, folder) != digest {
			t.Errorf("%s: %q", c.what, got)
		}
		// While a command is at work, another one removes nothing.
		if err := os.Mkdir(filepath.Join(folder, ".new-2"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := plugin.Recover(t.Context(), folder); err != nil {
			t.Error(err)
		}
		if got := names(t, folder); !strings.Contains(got, ".new-2") {
			t.Error("what another command works on was removed:", got)
		}
		if err := i.Close(); err != nil {
			t.Error(err)
		}
		if got := names(t, folder); got != c.want {
			t.Errorf("%s, after Close: %q", c.what, got)
		}
	}
}

// TestASessionFindsThePluginAfterAKill: it is put in place again before it is looked for.
func TestASessionFindsThePluginAfterAKill(t *testing.T) {
	t.Parallel()
	f := install(t, "plain", manifest)
	f.enable()
	if err := os.Rename(filepath.Join(f.folder, "test"), filepath.Join(f.folder, ".old-test")); err != nil {
		t.Fatal(err)
	}
	if f.load(); f.err != nil || len(f.all.List()) != 1 {
		t.Error(f.err)
	}
}

// TestSourcesAreRead as users type them.
func TestSourcesAreRead(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("0a", 20)
	for typed, want := range map[string]source.Source{
		"https://example.org/a/b.git":                    {Kind: source.Git, From: "https://example.org/a/b.git"},
		"https://example.org/a/b@" + id:                  {Kind: source.Git, From: "https://example.org/a/b", Commit: id},
		"https://example.org/a/b.git@" + id + "#tools/x": {Kind: source.Git, From: "https://example.org/a/b.git", Commit: id, Below: "tools/x"},
		"https://example.org/@user/b.git":                {Kind: source.Git, From: "https://example.org/@user/b.git"},
		"git@example.org:a/b.git@" + id:                  {Kind: source.Git, From: "git@example.org:a/b.git", Commit: id},
		"git@example.org:b@" + id:                        {Kind: source.Git, From: "git@example.org:b", Commit: id},
		"ssh://git@example.org:22/b.git":                 {Kind: source.Git, From: "ssh://git@example.org:22/b.git"},
	} {
		if got, err := source.Parse(typed); err != nil || got != want {
			t.Errorf("%s: %+v, %v", typed, got, err)
		}
	}
	for _, typed := range []string{"https://example.org/a/b.git@main", "https://example.org/a/b.git@" + id[:39], "https://example.org/a/b.git@" + strings.ToUpper(id), "https://me:word@example.org/b.git", "ext::sh -c x", "/nowhere/x"} {
		if got, err := source.Parse(typed); err == nil {
			t.Errorf("%s: %+v", typed, got)
		}
	}
}
