package credentialfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/internal/credentialfile"
	"hermes/internal/policy"
)

// home is a user's home with a Hermes home in it.
func home(t *testing.T) (credentialfile.Locator, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, ".hermes")
	l := credentialfile.Locator{
		UserHome: dir, Home: own, Rules: policy.PathRules{Home: dir, State: own}, Logins: []string{filepath.Join(dir, ".claude", ".credentials.json")},
		HoldsKey: func(text string) bool { return strings.Contains(text, "key-of-hermes") },
	}
	for name, text := range map[string]string{
		".aws/credentials": "aws", ".hermes/google.json": "google", ".hermes/.env": "OPENAI_API_KEY=x", ".hermes/auth.json": "{}", ".hermes/history": "said",
		".claude/.credentials.json": "login", "copy": "a key-of-hermes in it",
	} {
		put(t, filepath.Join(dir, name), text)
	}
	return l, dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestWhereFilesAre in a place, by what the user wrote.
func TestWhereFilesAre(t *testing.T) {
	t.Parallel()
	l, dir := home(t)
	for name, want := range map[string]string{
		"~/.aws/credentials":                 ".aws/credentials",
		filepath.Join(dir, ".aws", "x"):      ".aws/x",
		"google.json":                        ".hermes/google.json",
		"~/.hermes/google.json":              ".hermes/google.json",
		"sub/google.json":                    ".hermes/sub/google.json",
		filepath.Join(dir, ".hermes/g.json"): ".hermes/g.json",
	} {
		if f, err := l.Locate(name); err != nil || f.There != want {
			t.Errorf("%s: %q, %v, want %q", name, f.There, err, want)
		}
	}
}

// TestWhatIsRefused: nothing outside of the homes, nothing of Hermes itself, and no file that holds its keys, under any name.
func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	l, dir := home(t)
	outside := filepath.Join(t.TempDir(), "outside")
	put(t, outside, "of the system")
	link := func(name, to string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	link("out", outside)
	link("in", filepath.Join(dir, ".aws", "credentials"))
	link("rel", ".aws/credentials")
	link("env", ".hermes/.env")
	if err := os.Link(filepath.Join(dir, ".claude", ".credentials.json"), filepath.Join(dir, "hard")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"":                            "is no path",
		"a\nb":                        "is no path",
		"~/../x":                      "leaves its folder",
		"../x":                        "leaves its folder",
		"~/.aws/../../x":              "leaves its folder",
		outside:                       "neither in the user's home",
		"/etc/passwd":                 "neither in the user's home",
		"~other/x":                    "",
		".env":                        "a file of Hermes itself",
		"~/.hermes/.env":              "a file of Hermes itself",
		"auth.json":                   "a file of Hermes itself",
		"history":                     "a file of Hermes itself",
		"config.yaml":                 "a file of Hermes itself",
		"profiles/a/.env":             "a file of Hermes itself",
		"mcp-tokens/a.json":           "a file of Hermes itself",
		"~/.claude/.credentials.json": "a login that Hermes uses",
		"~/hard":                      "a login that Hermes uses",
		"~/copy":                      "a key of Hermes",
		"~/out":                       "a link leads out of",
		"~/env":                       "a file of Hermes itself",
		"~/.aws":                      "not a regular file",
		"~/missing":                   "no such file",
	} {
		f, err := l.Locate(name)
		var data []byte
		if err == nil {
			data, err = l.Read(f)
		}
		if err == nil || !strings.Contains(err.Error(), want) || data != nil {
			t.Errorf("%q: %q, %v, want %q", name, data, err, want)
		}
	}
	for _, name := range []string{"~/rel", "~/in"} {
		f, err := l.Locate(name)
		if err != nil {
			t.Error(err)
		} else if data, err := l.Read(f); string(data) != "aws" || err != nil {
			t.Errorf("%s, a link in the home: %q, %v", name, data, err)
		}
	}
	if runtime.GOOS != "windows" {
		put(t, filepath.Join(dir, "big"), strings.Repeat("x", credentialfile.MaxSize+1))
		f, err := l.Locate("~/big")
		if err == nil {
			_, err = l.Read(f)
		}
		if err == nil || !strings.Contains(err.Error(), "more than 1 MB") {
			t.Error(err)
		}
	}
	for _, name := range []string{"~/.aws/credentials", filepath.Join(dir, ".aws", "credentials"), ".env", "../.aws/credentials"} {
		if f, err := l.LocateOwn(name); err == nil {
			t.Errorf("a skill gets %+v", f)
		}
	}
}

// TestASetReadsWhatHasChanged, tells once what is missing, and takes a name once.
func TestASetReadsWhatHasChanged(t *testing.T) {
	t.Parallel()
	l, dir := home(t)
	s, problems := credentialfile.NewSet(l, []string{"~/.aws/credentials", "google.json", "~/later", "/etc/passwd"}, []string{"google.json", "~/.ssh/id"})
	if len(problems) != 2 || len(s.Files()) != 3 {
		t.Fatalf("%+v, %v", s.Files(), problems)
	}
	expect := func(all bool, names string, missing int) {
		t.Helper()
		read, problems := s.Changed(all)
		var got []string
		for _, c := range read {
			got = append(got, c.There+"="+string(c.Data))
		}
		if strings.Join(got, " ") != names || len(problems) != missing {
			t.Errorf("got %q, %v; want %q and %d problems", got, problems, names, missing)
		}
	}
	expect(true, ".aws/credentials=aws .hermes/google.json=google", 1)
	expect(false, "", 0)
	put(t, filepath.Join(dir, "later"), "now")
	put(t, filepath.Join(dir, ".aws/credentials"), "other")
	expect(false, ".aws/credentials=other later=now", 0)
	expect(false, "", 0)
	expect(true, ".aws/credentials=other .hermes/google.json=google later=now", 0)
}

// TestCopiesOfWhatHermesKeepsAreRefused: those beside the original, and the same file under another name, of every profile.
func TestCopiesOfWhatHermesKeepsAreRefused(t *testing.T) {
	t.Parallel()
	l, dir := home(t)
	l.Home = filepath.Join(l.Home, "profiles", "work")
	l.HoldsKey = nil // as with a key that is not used any more
	for _, name := range []string{".env.bak", ".env~", "#.env#", ".env-old", "auth.json.bak", ".auth.json.ABCDEFGHIJKL.tmp", ".audit.key.swp", "config.yaml.old", ".anthropic_oauth.json.1"} {
		for _, home := range []string{l.Home, filepath.Join(dir, ".hermes"), filepath.Join(dir, ".hermes", "profiles", "other")} {
			at := filepath.Join(home, name)
			put(t, at, "kept")
			if f, err := l.Locate(at); err == nil || !strings.Contains(err.Error(), "a file of Hermes itself") {
				t.Errorf("%s: %+v, %v", at, f, err)
			}
		}
	}
	for _, name := range []string{".envoy.json", "environment.json", "google-auth.json", "my-config.yaml"} {
		put(t, filepath.Join(l.Home, name), "of the user")
		if f, err := l.Locate(name); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if _, err := l.Read(f); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i, name := range []string{".hermes/.env", ".hermes/auth.json", ".hermes/mcp-tokens/a.json", ".hermes/profiles/other/.env", ".hermes/profiles/work/auth.json"} {
		link := "hard" + string(rune('0'+i))
		put(t, filepath.Join(dir, name), "kept")
		if err := os.Link(filepath.Join(dir, name), filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		f, err := l.Locate("~/" + link)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := l.Read(f); err == nil || data != nil || !strings.Contains(err.Error(), "a login that Hermes uses") {
			t.Errorf("%s as %s: %q, %v", name, link, data, err)
		}
	}
}

// TestASkillNamesNoFileOfAnotherProfile.
func TestASkillNamesNoFileOfAnotherProfile(t *testing.T) {
	t.Parallel()
	l, _ := home(t)
	for _, name := range []string{"profiles/other/google.json", "./profiles//other/google.json"} {
		if f, err := l.LocateOwn(name); err == nil {
			t.Errorf("a skill gets %+v", f)
		}
	}
}

// TestSourcesAreWhatWasRead: a link of the user's home to a file in that of Hermes is one of Hermes' home, which is given and
// not granted, and so is one of another profile's.
func TestSourcesAreWhatWasRead(t *testing.T) {
	t.Parallel()
	l, dir := home(t)
	l.Home = filepath.Join(l.Home, "profiles", "work")
	put(t, filepath.Join(l.Home, "mine.json"), "mine")
	if err := os.Symlink(filepath.Join(dir, ".hermes", "google.json"), filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	s, problems := credentialfile.NewSet(l, []string{"~/link", "mine.json", "~/.aws/credentials"}, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	google, mine, aws := filepath.Join(dir, ".hermes", "google.json"), filepath.Join(l.Home, "mine.json"), filepath.Join(dir, ".aws", "credentials")
	if own, others := s.Sources(true), s.Sources(false); !slices.Equal(own, []string{google, mine}) || !slices.Equal(others, []string{aws}) {
		t.Errorf("own %q, others %q", own, others)
	}
	read, _ := s.Changed(true)
	if len(read) != 3 || read[0].Real != google {
		t.Errorf("read %+v", read)
	}
}

// TestAFileOfTheSameSizeAndTimeIsAnotherOne, as those are that come out of an archive.
func TestAFileOfTheSameSizeAndTimeIsAnotherOne(t *testing.T) {
	t.Parallel()
	l, dir := home(t)
	at, next := filepath.Join(dir, ".aws", "credentials"), filepath.Join(dir, "next")
	put(t, next, "new")
	for _, name := range []string{at, next} {
		if err := os.Chtimes(name, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	s, _ := credentialfile.NewSet(l, []string{"~/.aws/credentials"}, nil)
	if read, _ := s.Changed(true); len(read) != 1 {
		t.Fatal(read)
	}
	if err := os.Rename(next, at); err != nil {
		t.Fatal(err)
	}
	if read, _ := s.Changed(false); len(read) != 1 || string(read[0].Data) != "new" {
		t.Errorf("read %+v", read)
	}
	if read, problems := s.Changed(false); len(read)+len(problems) > 0 {
		t.Errorf("again: %+v, %v", read, problems)
	}
}
