package written_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/internal/written"
)

// project is a folder whose files came with the session, but for those in old.
type project struct {
	t       *testing.T
	dir     string
	session written.Session
}

// newProject makes a folder. The files whose names begin with "old" were there before.
func newProject(t *testing.T, files ...string) *project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, dir: dir}
	for _, f := range files {
		if strings.HasPrefix(filepath.Base(f), "old") {
			p.write(f, "old")
		}
	}
	p.session.Began = p.now()
	for _, f := range files {
		if !strings.HasPrefix(filepath.Base(f), "old") {
			p.write(f, "new")
		}
	}
	return p
}

// now is a time of the disk's clock, which all earlier changes are not after.
func (p *project) now() time.Time {
	p.t.Helper()
	path := filepath.Join(p.t.TempDir(), "now")
	var first time.Time
	for {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			p.t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			p.t.Fatal(err)
		}
		if at := info.ModTime(); first.IsZero() {
			first = at
		} else if at.After(first) {
			return first
		}
	}
}

func (p *project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) link(target, name string) {
	p.t.Helper()
	if err := os.Symlink(target, filepath.Join(p.dir, name)); err != nil {
		p.t.Fatal(err)
	}
}

var identity = regexp.MustCompile(` \((SHA-256 [0-9a-f]{32}|link to ".*")\)$`)

// names lists the files of a line without what identifies them.
func (p *project) names(line string) []string {
	p.t.Helper()
	var out []string
	for _, l := range p.session.List(line, p.dir) {
		short := identity.ReplaceAllString(l, "")
		if short == l {
			p.t.Errorf("%s: %q has no identity", line, l)
		}
		out = append(out, short)
	}
	return out
}

// TestEveryWayToRunAFileListsIt: however a line says which file it runs, the file is in
// the list.
func TestEveryWayToRunAFileListsIt(t *testing.T) {
	t.Parallel()
	p := newProject(t, "old.sh", "run.sh", "sub/run.sh", "sub/x", "sub/deep/Makefile", "x", "evil.py", "pkg/evil/__main__.py", "pkg/__init__.py", "my file.sh", "sub/a b.sh", "list", "lib/ls", "sub/deep/old.sh")
	p.session.Home = p.dir + "/sub"
	for line, want := range map[string]string{
		"cd sub && ./run.sh":                    "sub/run.sh",
		"cd sub; cd deep; make":                 "sub/deep/Makefile",
		"cd sub/deep; cd ..; sh run.sh":         "sub/run.sh",
		"bash < sub/run.sh":                     "sub/run.sh",
		"bash < 'my file.sh'":                   "my file.sh",
		"bash -c 'bash < \"sub/a b.sh\"'":       "sub/a b.sh",
		"bash sub/r*.sh":                        "sub/run.sh",
		"bash s?b/run.s[h]":                     "sub/run.sh",
		"bash sub/{run,no}.sh":                  "sub/run.sh",
		"python3 -m evil":                       "evil.py",
		"python3.12 -mevil":                     "evil.py",
		"python3 -m pkg.evil":                   "pkg/evil/__main__.py",
		"python3 -c 'import evil'":              "evil.py",
		"make -C sub":                           "sub/deep/Makefile",
		"make -Csub/deep":                       "sub/deep/Makefile",
		"make --directory=sub/deep":             "sub/deep/Makefile",
		"env -C sub ./x":                        "sub/x",
		"env --chdir=sub ./x":                   "sub/x",
		"(cd sub; sh x)":                        "sub/x",
		". ./x":                                 "x",
		"source sub/x":                          "sub/x",
		"sh -c \"$(cat x)\"":                    "x",
		"sh -c \"$(cat list)\"":                 "sub/x",
		"xargs sh < list":                       "sub/run.sh",
		"cat list | xargs -I{} sh {}":           "sub/run.sh",
		"while read f; do sh $f; done < list":   "sub/run.sh",
		"for f in sub/*.sh; do sh $f; done":     "sub/run.sh",
		"X=./run.sh; $X":                        "run.sh",
		"X=run; sh $X.sh":                       "run.sh",
		"X=$(cat list); $X":                     "sub/run.sh",
		"D=sub; cd $D; ./run.sh":                "sub/run.sh",
		"eval './run.sh'":                       "run.sh",
		"eval \"$(cat list)\"":                  "sub/run.sh",
		"f() { sh \"$1\"; }; f sub/run.sh":      "sub/run.sh",
		"f() { sh run.sh; }; cd sub; f":         "sub/run.sh",
		"sh <<E\ncd sub\n./x\nE":                "sub/x",
		"cat list | sh":                         "sub/run.sh",
		"sh -s a < /dev/null; sh /dev/stdin":    "sub/run.sh",
		"cd -; ./y":                             "sub/x",
		"PATH=lib:$PATH ls":                     "lib/ls",
		"BASH_ENV=./x bash -c true":             "x",
		"find . -name 'r*' -exec sh {} ';'":     "sub/run.sh",
		"sh ~/run.sh":                           "sub/run.sh",
		"sh $HOME/run.sh":                       "sub/run.sh",
		"cd && sh run.sh":                       "sub/run.sh",
		"sh /proc/self/cwd/run.sh":              "run.sh",
		"r''un() { :; }; './r'\"un\".sh":        "run.sh",
		"'unclosed; sh sub/run.sh":              "sub/run.sh",
		"frob --exec=sub/run.sh":                "sub/run.sh",
		"frob sub":                              "sub/run.sh",
		"sudo -u nobody bash -lc 'cd sub; ./x'": "sub/x",
		"GIT_SSH_COMMAND=./x git fetch":         "x",
		"cp -r sub made && sh made/run.sh":      "sub/run.sh",
		"cp -r sub made && made/run.sh":         "sub/run.sh",
		"cp -r sub/. . && sh old.sh":            "sub/run.sh",
		"cp -r . /usr/bin && /usr/bin/env":      "sub/run.sh",
		"tar xf old.tar && . made/y":            "sub/run.sh",
		"cd made && ls":                         "sub/run.sh",
		"bash sub/[[:alpha:]]un.sh":             "sub/run.sh",
		"terraform apply":                       "sub/run.sh",
		"sh " + p.dir + "/sub/run.sh":           "sub/run.sh",
	} {
		if got := p.names(line); !slices.Contains(got, want) {
			t.Errorf("%s: %q lacks %s", line, got, want)
		}
	}
}

// TestOrdinaryLinesListNothing: what reads, and what runs the user's own files, is not
// worth the user's time.
func TestOrdinaryLinesListNothing(t *testing.T) {
	t.Parallel()
	p := newProject(t, "old.sh", "sub/old.sh", "new.sh", "sub/new.py", ".git/config", ".git/index")
	for _, line := range []string{
		"ls", "ls -la sub", "pwd", "git status", "git log --oneline -5", "git diff", "cat old.sh", "sh old.sh", "cd sub && ls", "cd sub && sh old.sh", "echo $HOME", "echo $(date)", "grep -rn todo .", "mkdir -p made && cp old.sh made",
		"systemctl restart nginx", "apt-get install -y jq", "curl -o /dev/null https://example.org", "cat /proc/cpuinfo", "frob .", "frob ..", "[ -f old.sh ] && cat old.sh", "/bin/sh old.sh", "kubectl get pods", "cd sub && ./old.sh", "cd sub/ && . ./old.sh", "sh -c 'sh old.sh'",
	} {
		if got := p.names(line); len(got) > 0 {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// TestWhatRunsComesBeforeDecoys: however many changed files a line reads, those that it
// runs are in what the user sees.
func TestWhatRunsComesBeforeDecoys(t *testing.T) {
	t.Parallel()
	var decoys []string
	for i := range 40 {
		decoys = append(decoys, fmt.Sprintf("f%02d.sh", i))
	}
	p := newProject(t, append(decoys, "zz.sh", "sub/zz.sh", "zz.py")...)
	cat := "cat " + strings.Join(decoys, " ") + " >/dev/null; "
	for line, want := range map[string]string{
		cat + "bash zz.sh": "zz.sh (", cat + "./zz.sh": "zz.sh (", cat + "cd sub; ./zz.sh": "sub/zz.sh (", cat + "bash < zz.sh": "zz.sh (", cat + "python3 zz.py": "zz.py (", cat + "python3 -m zz": "zz.py (",
		"ls; " + cat + "env -C sub sh zz.sh": "sub/zz.sh (",
	} {
		list := p.session.List(line, p.dir)
		at := slices.IndexFunc(list, func(l string) bool { return strings.HasPrefix(l, want) })
		if len(list) != 21 || at < 0 || at > 1 {
			t.Errorf("%q is number %d of %q", want, at, list)
		}
		if last := list[len(list)-1]; !regexp.MustCompile(`^and \d+ more \(SHA-256 [0-9a-f]{32} of all\)$`).MatchString(last) {
			t.Errorf("the last line is %q", last)
		}
	}
}

// TestAChangeOfWhatIsOnlyCountedChangesTheList: also what the user does not see cannot be
// exchanged.
func TestAChangeOfWhatIsOnlyCountedChangesTheList(t *testing.T) {
	t.Parallel()
	var files []string
	for i := range 300 {
		files = append(files, fmt.Sprintf("f%03d.sh", i))
	}
	for name, change := range map[string]func(p *project){
		"content":     func(p *project) { p.write("f050.sh", "bad") },
		"far behind":  func(p *project) { p.write("f299.sh", "longer") },
		"a new file":  func(p *project) { p.write("g.sh", "bad") },
		"one removed": func(p *project) { os.Remove(p.dir + "/f299.sh") },
		"one replaced by its like": func(p *project) {
			p.write("sub/f250.sh", "new")
			os.Rename(p.dir+"/sub/f250.sh", p.dir+"/f250.sh")
		},
	} {
		p := newProject(t, files...)
		before := p.session.List("make", p.dir)
		if again := p.session.List("make", p.dir); !slices.Equal(before, again) {
			t.Fatalf("%q, then %q", before, again)
		}
		p.now() // the clock of the disk has moved
		if change(p); slices.Equal(before, p.session.List("make", p.dir)) {
			t.Errorf("%s: the list is the same", name)
		}
	}
}

// TestALinkOfTheSessionIsListed: a link that the session made can be turned to another of
// the user's files.
func TestALinkOfTheSessionIsListed(t *testing.T) {
	t.Parallel()
	p := newProject(t, "good/old.sh", "bad/old.sh")
	p.link("good", "at")
	for _, line := range []string{"sh at/old.sh", "cd at && sh old.sh", "make"} {
		got := p.session.List(line, p.dir)
		if !slices.Equal(got, []string{`at (link to "good")`}) {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// TestALargeFolderIsSaidToBeOne: what a bound cuts off is not hidden.
func TestALargeFolderIsSaidToBeOne(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	for i := range 20_100 {
		p.write(fmt.Sprintf("many/%05d", i), "")
	}
	p.session.Began = p.now()
	if got, want := p.session.List("make", p.dir), []string{"perhaps some: the folder is too large to be searched"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	p.write("near.sh", "new")
	got := p.session.List("make", p.dir)
	if len(got) != 2 || !strings.HasPrefix(got[0], "near.sh (") || got[1] != "there may be more: the folder is too large to be searched" {
		t.Errorf("%q", got)
	}
	if got := p.session.List("ls many", p.dir); len(got) > 0 {
		t.Errorf("ls: %q", got)
	}
}

// TestANameCannotLookLikeAnotherLine: file names are chosen by the session, too.
func TestANameCannotLookLikeAnotherLine(t *testing.T) {
	t.Parallel()
	p := newProject(t, "a\nb.sh")
	got := p.session.List("make", p.dir)
	if len(got) != 1 || !strings.HasPrefix(got[0], `"a\nb.sh" (`) {
		t.Errorf("%q", got)
	}
}

// BenchmarkList measures a project of 10,000 files of which the session changed all.
func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	for i := range 10_000 {
		path := fmt.Sprintf("%s/%02d/%02d/%d.go", dir, i%20, i/20%20, i)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("package x"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for name, began := range map[string]time.Time{"all changed": time.Now().Add(-time.Hour), "none changed": time.Now().Add(time.Hour)} {
		for _, line := range []string{"make", "ls", "cd 01 && ./x.sh"} {
			b.Run(name+"/"+line, func(b *testing.B) {
				s := written.Session{Began: began}
				for b.Loop() {
					s.List(line, dir)
				}
			})
		}
	}
}
