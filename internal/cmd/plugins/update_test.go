package plugins_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/plugin"
)

// needs skips a test without a program, except where all must be there.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
}

// repository is a git repository with the plugin words in its folder tools/words.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t, filepath.Join(t.TempDir(), "many.git")}
	if _, err := plugin.Create(filepath.Join(r.dir, "tools", "words"), "words", "python"); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "trunk")
	r.commit()
	return r
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit makes a commit and returns its id.
func (r repository) commit() string {
	r.t.Helper()
	r.git("add", ".")
	r.git("commit", "-qm", "x")
	return r.git("rev-parse", "HEAD")
}

// change replaces a text in a file of the plugin.
func (r repository) change(file, old, now string) {
	r.t.Helper()
	path := filepath.Join(r.dir, "tools", "words", file)
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), old) {
		r.t.Fatal(file, old, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), old, now, 1)), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// TestAPluginIsInstalledFromACommit: only the full id of one, or the newest after a yes.
func TestAPluginIsInstalledFromACommit(t *testing.T) {
	t.Parallel()
	needs(t, "git")
	d, r := desk{t: t, home: t.TempDir()}, newRepository(t)
	first := r.git("rev-parse", "HEAD")
	r.change("plugin.yaml", "version: 0.1.0", "version: 0.2.0")
	second := r.commit()
	url := "file://" + r.dir
	for _, bad := range [][]string{
		{url + "@" + first[:12] + "#tools/words"}, {url + "@trunk#tools/words"}, {url + "#tools/words", "--commit", first[:39]}, {url + "@" + first + "#tools/words", "--commit", second},
		{url + "@" + first}, {url + "@" + first + "#tools/none"}, {url + "@" + first + "#../x"}, {"http" + url[4:]}, {"git@example.org:a/b.git@" + first}, {url + "@" + strings.Repeat("a", 40) + "#tools/words"},
		{r.dir + "/tools/words", "--commit", first},
	} {
		if out, err := d.run("y", append([]string{"install"}, bad...)...); err == nil {
			t.Errorf("%v: %s", bad, out)
		}
	}
	if out, err := d.run("", "install", url+"#tools/words"); err == nil || !strings.Contains(err.Error(), "--commit "+second) {
		t.Error("without a terminal:", err, out)
	}
	if out, err := d.run("n", "install", url+"#tools/words"); err == nil || !strings.Contains(out, "trunk") || !strings.Contains(out, second) {
		t.Error("after a no:", err, out)
	}
	if d.file("plugins/words/plugin.yaml") != "" {
		t.Error("something was installed")
	}
	d.must("", "install", url+"@"+first+"#tools/words")
	if !strings.Contains(d.file("plugins/words/plugin.yaml"), "0.1.0") {
		t.Error("another commit was installed")
	}
	d.must("y", "install", url+"#tools/words", "--replace")
	if !strings.Contains(d.file("plugins/words/plugin.yaml"), "0.2.0") || !strings.Contains(d.must("", "list"), "file:///") {
		t.Error("the newest:", d.must("", "list"))
	}
	var rows []struct{ Source struct{ Kind, Commit string } }
	if err := json.Unmarshal([]byte(d.must("", "list", "--json")), &rows); err != nil || len(rows) != 1 || rows[0].Source.Kind != "git" || rows[0].Source.Commit != second {
		t.Error(rows, err)
	}
	if entries, err := os.ReadDir(filepath.Join(d.home, "plugins")); err != nil || len(entries) != 3 { // with the lock and the key of sources
		t.Error("left:", entries, err)
	}
}

// TestAnUpdateShowsWhatChangesAndAsksOnce: no keeps the old version, o leaves the new one off, and
// yes has it on.
func TestAnUpdateShowsWhatChangesAndAsksOnce(t *testing.T) {
	t.Parallel()
	needs(t, "git", "python3")
	d, r := desk{t: t, home: t.TempDir()}, newRepository(t)
	d.must("y", "install", "file://"+r.dir+"#tools/words")
	d.must("y", "enable", "words")
	if out := d.must("", "update"); !strings.Contains(out, "words is the newest") {
		t.Error(out)
	}
	r.change("plugin.yaml", "capabilities: {}", "capabilities: {hosts: [api.example.org], read: [/srv/words]}")
	r.change("main.py", "words_count", "words_number_of")
	newest := r.commit()
	before := d.file("plugins/words/main.py")
	out, err := d.run("n", "update", "words")
	if err != nil || d.state("words") != "on" || d.file("plugins/words/main.py") != before {
		t.Error("after a no:", err, d.state("words"), out)
	}
	for _, want := range []string{newest[:12], "+ reaches api.example.org", "+ reads /srv/words", "~ main.py", "+def words_number_of_words", "stays as it is"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not shown:\n%s", want, out)
		}
	}
	if n := strings.Count(out, "[y"); n != 1 {
		t.Errorf("%d questions:\n%s", n, out)
	}
	if _, err := d.run("", "update", "words"); err == nil || d.state("words") != "on" || d.file("plugins/words/main.py") != before {
		t.Error("without a terminal:", err, d.state("words"))
	}
	d.must("o", "update", "words")
	if d.state("words") != "changed" || !strings.Contains(d.file("plugins/words/main.py"), "words_number_of_words") {
		t.Error("after an o:", d.state("words"))
	}
	r.change("main.py", "words_number_of", "words_amount_of")
	r.commit()
	if out := d.must("", "update", "--yes"); d.state("words") != "changed" || !strings.Contains(d.file("plugins/words/main.py"), "words_amount_of") {
		t.Error("what the user has not enabled was switched on:", d.state("words"), out)
	}
	if out := d.must("y", "enable", "words"); d.state("words") != "on" || !strings.Contains(out, "/srv/words") {
		t.Error("what it wants is not shown:", d.state("words"), out)
	}
	r.change("main.py", "amount_of", "sum_of")
	r.commit()
	out = d.must("y", "update", "words")
	if d.state("words") != "on" || !strings.Contains(out, "+ tool words_sum_of_words") || !strings.Contains(out, "- tool words_amount_of_words") || strings.Count(out, "[y") != 1 {
		t.Error("after a yes:", d.state("words"), out)
	}
	r.change("main.py", "Count the words of a text.", "Count all words.")
	r.commit()
	if out, err := d.run("", "update", "--yes"); err == nil || !strings.Contains(err.Error(), "~ tool words_sum_of_words") || !strings.Contains(out, "Count all words.") || strings.Contains(d.file("plugins/words/main.py"), "all words") {
		t.Error("--yes agrees to a tool that says something else:", err, out)
	}
	if out := d.must("y", "update", "words"); !strings.Contains(out, "tool       words_sum_of_words (says that it only reads, runs beside other calls): Count all words.") || d.state("words") != "on" {
		t.Error("a tool that says something else:", out)
	}
	r.change("main.py", "len(text.split())", "len(text.split(None))")
	r.commit()
	d.must("", "update", "--yes")
	if d.state("words") != "on" || !strings.Contains(d.file("plugins/words/main.py"), "split(None)") {
		t.Error("with --yes:", d.state("words"))
	}
	r.change("plugin.yaml", "kinds: [tools, hooks]", "kinds: [tools, hooks, prompt]")
	r.commit()
	if _, err := d.run("", "update", "--yes"); err == nil || !strings.Contains(err.Error(), "+ kind prompt") || strings.Contains(d.file("plugins/words/plugin.yaml"), "prompt") {
		t.Error("--yes agrees to a new kind:", err)
	}
	r.change("plugin.yaml", "kinds: [tools, hooks, prompt]", "kinds: [tools, hooks]")
	r.change("plugin.yaml", "[/srv/words]", "[/srv/words, /srv/more]")
	r.commit()
	if _, err := d.run("", "update", "--yes"); err == nil || !strings.Contains(err.Error(), "+ reads /srv/more") || strings.Contains(d.file("plugins/words/plugin.yaml"), "/srv/more") {
		t.Error("--yes agrees to more:", err)
	}
	r.change("main.py", "plugin.run()", "import sys; sys.exit('a mistake')")
	r.commit()
	if out, err := d.run("y", "update", "words"); err == nil || d.state("words") != "on" || strings.Contains(d.file("plugins/words/main.py"), "a mistake") {
		t.Error("a version that does not start:", err, d.state("words"), out)
	}
}

// TestAnUpdateOfAFolderReadsItAgain, and one that is not there any more says what to do.
func TestAnUpdateOfAFolderReadsItAgain(t *testing.T) {
	t.Parallel()
	d, from := desk{t: t, home: t.TempDir()}, words(t)
	d.must("", "install", from)
	if err := os.WriteFile(filepath.Join(from, "more.py"), []byte("x = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := d.must("y", "update", "words"); !strings.Contains(out, "+ more.py") || d.file("plugins/words/more.py") != "x = 1\n" || d.state("words") != "off" {
		t.Error(out, d.state("words"))
	}
	if err := os.RemoveAll(from); err != nil {
		t.Fatal(err)
	}
	if _, err := d.run("y", "update"); err == nil || !strings.Contains(err.Error(), "--replace") {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(d.home, "plugins", "words", ".hermes-source.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.run("y", "update"); err == nil || !strings.Contains(err.Error(), "not installed by a command") || !strings.Contains(d.must("", "list"), "by hand") {
		t.Error(err)
	}
	if _, err := d.run("y", "update", "other"); err == nil {
		t.Error("a plugin that is not there")
	}
}

// TestRemoveRemovesWhatAPluginStored, of this plugin only, and not with --keep-data.
func TestRemoveRemovesWhatAPluginStored(t *testing.T) {
	t.Parallel()
	d, from := desk{t: t, home: t.TempDir()}, words(t)
	cache := filepath.Join(d.home, "cache", "sandbox")
	const own, other = "plugin-words-dba36bffa5ca", "plugin-words-more-0123456789ab"
	for _, keep := range []bool{true, false} {
		for _, name := range []string{own, other} {
			if err := os.MkdirAll(filepath.Join(cache, name, "home"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		d.must("", "install", from)
		args := []string{"remove", "words"}
		if keep {
			args = append(args, "--keep-data")
		}
		d.must("", args...)
		_, errOwn := os.Stat(filepath.Join(cache, own))
		_, errOther := os.Stat(filepath.Join(cache, other))
		if (errOwn == nil) != keep || errOther != nil {
			t.Errorf("keep %v: %v, %v", keep, errOwn, errOther)
		}
	}
	if _, err := d.run("", "remove", "words"); err == nil {
		t.Error("a plugin that is not there")
	}
	if err := os.WriteFile(filepath.Join(d.home, "config.yaml"), []byte("plugins: {enabled: [words]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := d.run("", "doctor"); err == nil || !strings.Contains(out, "hermes plugins remove words") {
		t.Error(out, err)
	}
	d.must("", "remove", "words")
	if strings.Contains(d.file("config.yaml"), "words") {
		t.Error("it is still named:", d.file("config.yaml"))
	}
}

// TestDoctorSaysWhatIsWrongWithEach plugin that is enabled: it starts them unless it is told not to.
func TestDoctorSaysWhatIsWrongWithEach(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	d := desk{t: t, home: t.TempDir()}
	for name, code := range map[string]string{"good": "", "fickle": "", "gone": "", "dead": "", "secretive": ""} {
		dir := filepath.Join(t.TempDir(), name)
		if _, err := plugin.Create(dir, name, "python"); err != nil {
			t.Fatal(err)
		}
		main, err := os.ReadFile(filepath.Join(dir, "main.py"))
		if err != nil {
			t.Fatal(err)
		}
		if name == "fickle" {
			code = "import os\nif os.path.exists(" + quoted(filepath.Join(d.home, "fickle")) + "):\n    plugin.section('late', 'Late.')\n"
		}
		if name == "dead" {
			code = "import os, sys\nif os.path.exists(" + quoted(filepath.Join(d.home, "dead")) + "):\n    sys.exit('no licence')\n"
		}
		text := strings.Replace(string(main), "\n\nif __name__", "\n"+code+"\nif __name__", 1)
		manifest := "name: " + name + "\nversion: \"1\"\nprogram: [python3, ./main.py]\nkinds: [tools, hooks, prompt]\n"
		switch name {
		case "gone":
			manifest = strings.Replace(manifest, "python3, ./main.py", "hermes-test-gone", 1)
		case "secretive":
			manifest += "capabilities: {hosts: [a.example.org], secrets: [{name: WORDS_KEY, hosts: [a.example.org]}]}\n"
		}
		for file, data := range map[string]string{"main.py": text, "plugin.yaml": manifest} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d.must("", "install", dir)
	}
	if err := os.WriteFile(filepath.Join(d.home, ".env"), []byte("WORDS_KEY=secret-value\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"good", "fickle", "dead", "secretive"} {
		d.must("y", "enable", name)
	}
	if out, err := d.run("y", "enable", "gone"); err == nil || !strings.Contains(err.Error(), "hermes-test-gone was not found") {
		t.Error(err, out)
	}
	for _, name := range []string{"fickle", "dead"} {
		if err := os.WriteFile(filepath.Join(d.home, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(d.home, ".env")); err != nil {
		t.Fatal(err)
	}
	if out := d.must("", "doctor", "--no-start"); !strings.Contains(out, "nothing is wrong") {
		t.Error("nothing was started:", out)
	}
	out, err := d.run("", "doctor")
	if err == nil || !strings.Contains(err.Error(), "3 plugins") {
		t.Error(err)
	}
	for _, want := range []string{"fickle: it offers something else", "prompt late", "dead: ", "no licence", "secretive: ", "WORDS_KEY"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said:\n%s", want, out)
		}
	}
	if strings.Contains(out, "good:") {
		t.Error("a good one:", out)
	}
}

func quoted(s string) string {
	data, _ := json.Marshal(s) // a text
	return string(data)
}

// TestAPluginCannotSayWhereItComesFrom: files that were put there by hand may hold any record, also that of
// another plugin of this home. What a command installed keeps its source when the user changes it.
func TestAPluginCannotSayWhereItComesFrom(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	d, from := desk{t: t, home: t.TempDir()}, words(t)
	d.must("", "install", from)
	record := d.file("plugins/words/.hermes-source.json")
	d.write(filepath.Join(d.home, "plugins", "words", "more.py"), "x = 1\n")
	if out := d.must("", "list", "--json"); !strings.Contains(out, from) {
		t.Error("a plugin of a command that was changed:", out)
	}
	elsewhere := words(t)
	for what, says := range map[string]string{
		"another record": `{"kind": "folder", "from": "` + elsewhere + `", "seal": "00"}`,
		"no seal":        `{"kind": "folder", "from": "` + elsewhere + `"}`,
		"a seal of ours": strings.Replace(record, from, elsewhere, 1),
		"a stolen one":   record,
	} {
		name := "forged"
		dir := filepath.Join(d.home, "plugins", name)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := plugin.Create(dir, name, "python"); err != nil {
			t.Fatal(err)
		}
		d.write(filepath.Join(dir, ".hermes-source.json"), says)
		for _, enabled := range []bool{false, true} {
			if enabled {
				d.must("", "enable", name, "--yes")
			}
			if out := d.must("", "list", "--json"); strings.Contains(out, elsewhere) {
				t.Errorf("%s, enabled %v: %s", what, enabled, out)
			}
			if out := d.must("", "list"); !strings.Contains(out, "unknown (put there by hand)") {
				t.Errorf("%s, enabled %v: %s", what, enabled, out)
			}
			if out, err := d.run("y", "update", name); err == nil || !strings.Contains(err.Error(), "not installed by a command") {
				t.Errorf("%s, enabled %v: update: %v %s", what, enabled, err, out)
			}
		}
	}
}

// TestAnEnabledPluginOfAnOlderHomeKeepsItsSource: its record has no seal, and its pin no source.
func TestAnEnabledPluginOfAnOlderHomeKeepsItsSource(t *testing.T) {
	t.Parallel()
	d, from := desk{t: t, home: t.TempDir()}, words(t)
	d.must("", "install", from)
	folder := filepath.Join(d.home, "plugins")
	dir := filepath.Join(folder, "words")
	d.write(filepath.Join(dir, ".hermes-source.json"), `{"kind": "folder", "from": "`+from+`"}`)
	if out := d.must("", "list", "--json"); strings.Contains(out, from) {
		t.Error("one that was never enabled:", out)
	}
	digest, err := plugin.Digest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := plugin.PinsIn(folder).Set(t.Context(), "words", plugin.Pin{Digest: digest}); err != nil {
		t.Fatal(err)
	}
	if out := d.must("", "list", "--json"); !strings.Contains(out, from) {
		t.Error("one that was enabled:", out)
	}
	for range 2 {
		d.must("y", "enable", "words")
		if out := d.must("", "list", "--json"); !strings.Contains(out, from) {
			t.Error("one that was enabled again:", out)
		}
	}
	d.must("y", "update", "words")
	d.write(filepath.Join(dir, "more.py"), "x = 1\n")
	if out := d.must("", "list", "--json"); !strings.Contains(out, from) {
		t.Error("after its update:", out)
	}
}
