package plugins_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/cmd/plugins"
	"hermes/internal/confine"
	"hermes/internal/plugin"
)

// desk runs `hermes plugins` in a home.
type desk struct {
	t     *testing.T
	home  string
	walls bool // around plugins, where this host allows them
}

func TestMain(m *testing.M) {
	confine.Main(os.Getenv("HTTPS_PROXY")) // the tests are the program that becomes a keeper
	os.Exit(m.Run())
}

// run runs a command; answer is what the user types to each question, "" is no terminal.
func (d desk) run(answer string, args ...string) (string, error) {
	d.t.Helper()
	var out bytes.Buffer
	f := factory.New(app.Options{Home: d.home, Sandbox: app.Sandbox{Keeper: d.walls}, Getenv: func(name string) string { return map[string]string{"PATH": os.Getenv("PATH")}[name] }}, factory.IO{
		Out: &out, Err: &out, Terminal: func() bool { return answer != "" },
	})
	defer f.Close()
	cmd := plugins.NewCmd(f)
	cmd.SetArgs(args)
	cmd.SetIn(iotest.OneByteReader(strings.NewReader(strings.Repeat(answer+"\n", 3)))) // one line at a time, as a terminal
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(d.t.Context())
	return out.String(), err
}

func (d desk) must(answer string, args ...string) string {
	d.t.Helper()
	out, err := d.run(answer, args...)
	if err != nil {
		d.t.Fatalf("hermes plugins %q: %v\n%s", args, err, out)
	}
	return out
}

func (d desk) file(name string) string {
	data, _ := os.ReadFile(filepath.Join(d.home, name))
	return string(data)
}

func (d desk) state(name string) string {
	d.t.Helper()
	var rows []struct{ Name, State string }
	if err := json.Unmarshal([]byte(d.must("", "list", "--json")), &rows); err != nil {
		d.t.Fatal(err)
	}
	for _, r := range rows {
		if r.Name == name {
			return r.State
		}
	}
	return ""
}

// words is a new plugin in a folder.
func words(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "words")
	if _, err := plugin.Create(dir, "words", "python"); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestAPluginIsInstalledEnabledAndRemoved: nothing runs or changes without a yes, a changed file
// switches it off, and a removal leaves nothing.
func TestAPluginIsInstalledEnabledAndRemoved(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	d := desk{t: t, home: t.TempDir()}
	from := words(t)
	d.must("", "install", from)
	if d.state("words") != "off" {
		t.Error("after install:", d.state("words"))
	}
	if out, err := d.run("", "install", from); err == nil || !strings.Contains(err.Error(), "--replace") {
		t.Error("a second time:", err, out)
	}
	if out, err := d.run("n", "enable", "words"); err == nil || strings.Contains(out, "count_words") || d.file("config.yaml") != "" {
		t.Error("after a no:", err, out)
	}
	if _, err := d.run("", "enable", "words"); err == nil || !strings.Contains(err.Error(), "--yes") {
		t.Error("without a terminal:", err)
	}
	out := d.must("y", "enable", "words")
	if !strings.Contains(out, "words_count_words") || !strings.Contains(out, "pre_tool_call terminal, refuses if it fails") || !strings.Contains(d.file("config.yaml"), "words") || d.state("words") != "on" {
		t.Error("enable:", out, d.file("config.yaml"), d.state("words"))
	}
	if out := d.must("", "doctor"); !strings.Contains(out, "nothing is wrong") {
		t.Error(out)
	}
	if err := os.WriteFile(filepath.Join(d.home, "plugins", "words", "more.py"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if d.state("words") != "changed" {
		t.Error("after a change:", d.state("words"))
	}
	if out, err := d.run("", "doctor"); err == nil || !strings.Contains(out, "changed since you enabled it") {
		t.Error("doctor:", err, out)
	}
	d.must("", "install", from, "--replace")
	if d.state("words") != "on" {
		t.Error("with the files that were enabled:", d.state("words"))
	}
	d.must("", "disable", "words")
	if d.state("words") != "off" || strings.Contains(d.file("plugins/.enabled.json"), "words") {
		t.Error("disable:", d.state("words"), d.file("plugins/.enabled.json"))
	}
	d.must("y", "enable", "words")
	d.must("", "remove", "words")
	if strings.Contains(d.file("config.yaml")+d.file("plugins/.enabled.json"), "words") {
		t.Error("left:", d.file("config.yaml"), d.file("plugins/.enabled.json"))
	}
	entries, err := os.ReadDir(filepath.Join(d.home, "plugins"))
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".enabled.json") && e.Name() != ".install.lock" && e.Name() != ".source-key" {
			t.Error("left:", e.Name(), err)
		}
	}
}

// TestArchivesAreInstalledWithinTheirFolder: and one that leaves it, or holds links, changes nothing.
func TestArchivesAreInstalledWithinTheirFolder(t *testing.T) {
	t.Parallel()
	d := desk{t: t, home: t.TempDir()}
	manifest := []byte("name: words\nprogram: [./run]\nkinds: [tools]\n")
	type entry struct {
		name, link string
		data       []byte
	}
	zipped := func(list ...entry) string {
		path := filepath.Join(t.TempDir(), "p.zip")
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, e := range list {
			f, err := w.Create(e.name)
			if err == nil {
				_, err = f.Write(e.data)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tarred := func(list ...entry) string {
		path := filepath.Join(t.TempDir(), "p.tar.gz")
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		for _, e := range list {
			h := &tar.Header{Name: e.name, Mode: 0o755, Size: int64(len(e.data)), Typeflag: tar.TypeReg}
			if e.link != "" {
				h.Typeflag, h.Linkname = tar.TypeSymlink, e.link
			}
			if err := w.WriteHeader(h); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(e.data); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := entry{name: "words-1.0/plugin.yaml", data: manifest}
	run := entry{name: "words-1.0/run", data: []byte("#!/bin/sh\n")}
	for _, bad := range []string{
		zipped(good, entry{name: "../evil", data: []byte("x")}), tarred(good, entry{name: "../evil", data: []byte("x")}),
		tarred(good, entry{name: "/etc/evil", data: []byte("x")}), tarred(good, entry{name: "words-1.0/link", link: "/etc"}),
		tarred(good, run, entry{name: "words-1.0/link", link: "../../run"}), tarred(good, run, entry{name: "words-1.0/link", link: "../words-1.0"}), tarred(good, entry{name: "words-1.0/link", link: "none"}),
		tarred(good, entry{name: "words-1.0/a", link: "b"}, entry{name: "words-1.0/b", link: "a"}),
		tarred(good, good), zipped(run), tarred(),
	} {
		if out, err := d.run("", "install", bad); err == nil {
			t.Errorf("%s: %s", bad, out)
		}
		if entries, _ := os.ReadDir(filepath.Join(d.home, "plugins")); len(entries) > 1 { // the lock
			t.Fatal("left:", entries)
		}
	}
	for _, archive := range []string{zipped(good, run), tarred(good, run)} {
		d.must("", "install", archive)
		if d.state("words") != "off" || d.file("plugins/words/run") != "#!/bin/sh\n" {
			t.Error(archive, d.state("words"))
		}
		d.must("", "remove", "words")
	}
	d.must("", "install", tarred(good, entry{name: "words-1.0/one", link: "two"}, entry{name: "words-1.0/two", link: "./run"}, run))
	if info, err := os.Lstat(filepath.Join(d.home, "plugins", "words", "one")); err != nil || !info.Mode().IsRegular() || d.file("plugins/words/one") != "#!/bin/sh\n" {
		t.Error("a link in the plugin:", err)
	}
	if _, err := os.Stat(filepath.Join(d.home, "evil")); err == nil {
		t.Error("a file outside of the plugin")
	}
}

// TestPathsWithoutAnEffectAreNamed before a plugin is enabled, and by doctor: nothing is opened for them.
func TestPathsWithoutAnEffectAreNamed(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	d, from, dir := desk{t: t, home: t.TempDir()}, words(t), t.TempDir()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	there, link, gone := filepath.Join(dir, "there"), filepath.Join(dir, "link"), filepath.Join(dir, "gone")
	if err := os.Mkdir(there, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(there, link); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(from, "plugin.yaml")
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), "capabilities: {}") {
		t.Fatal(string(data), err)
	}
	changed := strings.Replace(string(data), "capabilities: {}", "capabilities: {read: ["+there+", "+link+"], write: ["+gone+"]}", 1)
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	d.must("", "install", from)
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") } // it is folded
	for _, out := range []string{d.must("y", "enable", "words"), d.must("", "doctor")} {
		out = flat(out)
		if !strings.Contains(out, link+" leads to "+there+" through a link") || !strings.Contains(out, gone+" is not there") || strings.Contains(out, there+" is not there") {
			t.Error(out)
		}
	}
}
