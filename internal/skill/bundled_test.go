package skill_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"flag"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/home"
	"hermes/internal/skill"
	"hermes/internal/skill/guard"
)

// bundledLibrary is a library with the bundled skills only.
func bundledLibrary(t *testing.T) *skill.Library {
	t.Helper()
	return skill.New(skill.Config{Home: home.At(t.TempDir()), OS: "linux"})
}

var update = flag.Bool("update", false, "write the archive of bundled skills again")

// TestTheArchiveOfBundledSkills has each file of the folder, and no other.
func TestTheArchiveOfBundledSkills(t *testing.T) {
	t.Parallel()
	const name = "bundled.zip"
	folder := os.DirFS("bundled")
	if *update {
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestCompression) })
		must(t, fs.WalkDir(folder, ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			raw, err := fs.ReadFile(folder, p)
			if err != nil {
				return err
			}
			to, err := w.Create(p)
			if err != nil {
				return err
			}
			_, err = to.Write(raw)
			return err
		}))
		must(t, w.Close())
		must(t, os.WriteFile(name, out.Bytes(), 0o644))
	}
	archive, err := zip.OpenReader(name)
	must(t, err)
	defer archive.Close()
	if diff := cmp.Diff(textsOf(t, folder), textsOf(t, archive)); diff != "" {
		t.Errorf("the archive is old: run go test ./internal/skill -run Archive -update; -folder +archive:\n%s", diff)
	}
}

// textsOf returns the text of each file.
func textsOf(t *testing.T, from fs.FS) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, fs.WalkDir(from, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(from, p)
		all[p] = string(raw)
		return err
	}))
	return all
}

func TestBundledSkills(t *testing.T) {
	t.Parallel()
	l := bundledLibrary(t)
	all, err := l.List(t.Context())
	must(t, err)
	if len(all) < 40 {
		t.Errorf("%d skills, at least 40 are promised", len(all))
	}
	categories := map[string]int{}
	for _, s := range all {
		categories[s.Category]++
		if len([]rune(s.Description)) > 60 {
			t.Errorf("%s: lists cut the description %q", s.Name, s.Description)
		}
		if len(s.Tags) == 0 || s.Source != hermes.SkillBundled {
			t.Errorf("%s: %+v", s.Name, s)
		}
	}
	for _, c := range []string{"software-development", "github", "devops", "data", "research", "writing", "productivity", "media", "mlops", "security"} {
		if categories[c] == 0 {
			t.Errorf("no skill in %s", c)
		}
	}
}

func TestBundledSkillsAreWhole(t *testing.T) {
	t.Parallel()
	l := bundledLibrary(t)
	files := os.DirFS("bundled")
	mains, err := fs.Glob(files, "*/*/SKILL.md")
	must(t, err)
	link := regexp.MustCompile(`\]\(([^)\s#]+)\)`)
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	seen := map[string]bool{}
	for _, main := range mains {
		raw, err := fs.ReadFile(files, main)
		must(t, err)
		m, body, err := skill.Parse(raw)
		if err != nil {
			t.Errorf("%s: %v", main, err)
			continue
		}
		if path.Base(path.Dir(main)) != m.Name || seen[m.Name] {
			t.Errorf("%s is called %s, like its folder and once", main, m.Name)
		}
		seen[m.Name] = true
		if n := strings.Count(string(raw), "\n"); n < 40 || n > 120 {
			t.Errorf("%s has %d lines, 40 to 120 are wanted", m.Name, n)
		}
		for _, part := range []string{"\n## When to use\n", "\n## Steps\n", "\n## Pitfalls\n", "\n## Verification\n"} {
			if !strings.Contains("\n"+body, part) {
				t.Errorf("%s has no section %q", m.Name, strings.TrimSpace(part))
			}
		}
		if strings.Count(body, "```")%2 != 0 {
			t.Errorf("%s: a code block is not closed", m.Name)
		}
		for _, at := range link.FindAllStringSubmatch(code.ReplaceAllString(body, ""), -1) {
			if strings.Contains(at[1], "://") {
				continue
			}
			if _, err := fs.Stat(files, path.Join(path.Dir(main), at[1])); err != nil {
				t.Errorf("%s: broken link %s", m.Name, at[1])
			}
		}
		for _, other := range m.Related {
			if _, err := l.View(t.Context(), other, ""); err != nil {
				t.Errorf("%s: related skill: %v", m.Name, err)
			}
		}
		r := skill.Scan([]guard.File{{Path: "SKILL.md", Data: raw}})
		if r.Verdict() != guard.Safe {
			t.Errorf("%s is not safe: %v", m.Name, r.Serious())
		}
	}
}

// TestTheIndexStaysSmall limits what every session pays for the list of skills.
func TestTheIndexStaysSmall(t *testing.T) {
	t.Parallel()
	text, err := bundledLibrary(t).Index(t.Context(), skill.Offer{})
	must(t, err)
	if len(text) > 2600 {
		t.Errorf("the index has %d bytes, want at most 2600", len(text))
	}
}
