package hub_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/skill/guard"
	"hermes/internal/skill/hub"
)

const doc = "---\nname: pdf\ndescription: Work with PDFs\n---\nSee references/forms.md and scripts/gone.py.\n"

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// tarball packs files; a name with -> is a link.
func tarball(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range files {
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}
		if at, target, ok := strings.Cut(name, "->"); ok {
			h = &tar.Header{Name: at, Linkname: target, Typeflag: tar.TypeSymlink}
			text = ""
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zipped(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// world is a server that answers for all registries, by path.
func world(t *testing.T) (*hub.Hub, string) {
	t.Helper()
	repo := tarball(t, map[string]string{
		"anthropics-skills-abc/skills/pdf/SKILL.md": doc, "anthropics-skills-abc/skills/pdf/references/forms.md": "forms",
		"anthropics-skills-abc/skills/docx/SKILL.md": strings.Replace(doc, "pdf", "docx", 1), "anthropics-skills-abc/skills/pdf/out->../../../etc/passwd": "",
	})
	answers := map[string]string{
		"/repos/anthropics/skills/git/trees/HEAD?recursive=1": `{"tree":[{"path":"skills/pdf/SKILL.md","type":"blob"},{"path":"skills/docx/SKILL.md","type":"blob"},{"path":"README.md","type":"blob"}]}`,
		"/repos/anthropics/skills/tarball":                    repo,
		"/repos/anthropics/skills/tarball/v1":                 repo,
		"/raw/anthropics/skills/HEAD/skills/pdf/SKILL.md":     doc,
		"/raw/anthropics/skills/HEAD/.claude-plugin/marketplace.json": `{"name":"m","owner":{"name":"x"},"metadata":{"version":"1"},"plugins":[
			{"name":"document-skills","description":"Documents","source":"./","strict":false,"skills":["./skills/pdf","./skills/docx"]},
			{"name":"elsewhere","description":"Other","source":{"source":"github","repo":"anthropics/skills"}},
			{"name":"odd","source":7}]}`,
		"/api/v1/search?nonSuspiciousOnly=true&limit=5&q=pdf":          `{"results":[{"score":0.9,"slug":"pdf-tool","displayName":"PDF Tool","summary":"Handles PDFs","version":"1.2.3"}]}`,
		"/api/v1/skills?sort=downloads&nonSuspiciousOnly=true&limit=5": `{"items":[{"slug":"top","displayName":"Top","summary":"","stats":{"downloads":7}}],"nextCursor":null}`,
		"/api/v1/skills/pdf-tool":                                      `{"skill":{"slug":"pdf-tool"},"latestVersion":{"version":"1.2.3"},"owner":{"handle":"x"}}`,
		"/api/v1/skills/bad":                                           `{"skill":{"slug":"bad"},"latestVersion":{"version":"1"},"moderation":{"isMalwareBlocked":true}}`,
		"/api/v1/download?slug=pdf-tool&version=1.2.3":                 zipped(t, map[string]string{"pdf-tool/SKILL.md": doc, "pdf-tool/scripts/a.py": "print()"}),
		"/api/search?q=pdf&limit=5":                                    `{"query":"pdf","searchType":"fuzzy","skills":[{"id":"anthropics/skills/pdf","skillId":"pdf","name":"pdf","installs":42,"source":"anthropics/skills"}],"count":1}`,
		"/index.json":                                                  `{"schemaVersion":1,"agents":[{"identifier":"pdf-helper","author":"ann","meta":{"title":"PDF Helper","description":"Reads \"PDFs\"","tags":["docs"]}},{"identifier":"poet","meta":{"title":"Poet"}}]}`,
		"/pdf-helper.json":                                             `{"identifier":"pdf-helper","author":"ann","config":{"systemRole":"You read PDFs."},"meta":{"title":"PDF Helper","description":"Reads \"PDFs\"","tags":["docs"]}}`,
		"/poet.json":                                                   `{"identifier":"poet","config":{},"meta":{"title":"Poet"}}`,
		"/.well-known/agent-skills/index.json": fmt.Sprintf(`{"version":"0.2.0","skills":[
			{"name":"pdf","description":"Work with PDFs","files":[{"path":"SKILL.md","digest":%q},{"path":"references/forms.md","digest":%q}]},
			{"name":"forged","description":"x","files":[{"path":"SKILL.md","digest":%q}]},
			{"name":"climbs","description":"x","files":["../../secret"]},
			{"name":"packed","type":"archive","description":"x","url":"packed.tar.gz","digest":%q},
			{"name":"single","type":"skill-md","description":"x","url":"/.well-known/agent-skills/pdf/SKILL.md"}]}`,
			digest(doc), digest("forms"), digest("other"), digest(tarballFixed)),
		"/.well-known/agent-skills/pdf/SKILL.md":            doc,
		"/.well-known/agent-skills/forged/SKILL.md":         doc,
		"/.well-known/agent-skills/pdf/references/forms.md": "forms",
		"/.well-known/agent-skills/packed.tar.gz":           tarballFixed,
		"/docs/SKILL.md":            doc,
		"/docs/references/forms.md": "forms",
		"/broken/index.json":        "{",
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/repos/limited/out/git/trees/HEAD" {
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("Retry-After", "34")
			w.WriteHeader(http.StatusForbidden)
			return
		}
		text, ok := answers[r.URL.RequestURI()]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	return hub.New(hub.Config{
		Client: s.Client(), Taps: []string{"anthropics/skills"}, Marketplaces: []string{"anthropics/skills"}, Sites: []string{s.URL},
		Bases: hub.Bases{GitHub: s.URL, Raw: s.URL + "/raw", ClawHub: s.URL, SkillsSh: s.URL, LobeHub: s.URL},
	}), s.URL
}

// tarballFixed is an archive of a single skill.
var tarballFixed = func() string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	_ = w.WriteHeader(&tar.Header{Name: "SKILL.md", Mode: 0o644, Size: int64(len(doc)), Typeflag: tar.TypeReg})
	_, _ = w.Write([]byte(doc))
	_ = w.Close()
	_ = z.Close()
	return b.String()
}()

func TestSearch(t *testing.T) {
	t.Parallel()
	h, site := world(t)
	list, err := h.Search(t.Context(), "pdf", "", 5)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range list {
		got = append(got, strings.ReplaceAll(fmt.Sprintf("%s %s %s", l.Source, l.Identifier, l.Trust), site, "SITE"))
	}
	want := []string{
		"github anthropics/skills/skills/pdf trusted",
		"clawhub clawhub/pdf-tool community",
		"skills-sh skills-sh/anthropics/skills/pdf trusted",
		"lobehub lobehub/pdf-helper community",
		"claude-marketplace claude-marketplace/anthropics/skills/document-skills/pdf trusted",
		"well-known well-known:SITE/.well-known/agent-skills/pdf community",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if list[0].Description != "Work with PDFs" {
		t.Errorf("got %+v", list[0])
	}
	if list, err = h.Search(t.Context(), "", "clawhub", 5); err != nil || len(list) != 1 || list[0].Popularity != 7 {
		t.Errorf("browse: %+v, %v", list, err)
	}
	if _, err = h.Search(t.Context(), "x", "nowhere", 5); err == nil {
		t.Error("an unknown source was asked")
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	h, site := world(t)
	for id, want := range map[string][]string{
		"anthropics/skills/skills/pdf":                              {"SKILL.md", "out", "references/forms.md"},
		"anthropics/skills@docx":                                    {"SKILL.md"},
		"https://github.com/anthropics/skills/tree/v1/skills/docx":  {"SKILL.md"},
		"skills-sh/anthropics/skills/docx":                          {"SKILL.md"},
		"https://skills.sh/anthropics/skills/docx":                  {"SKILL.md"},
		"claude-marketplace/anthropics/skills/document-skills/docx": {"SKILL.md"},
		"claude-marketplace/anthropics/skills/elsewhere/docx":       {"SKILL.md"},
		"clawhub/pdf-tool":                                          {"SKILL.md", "scripts/a.py"},
		"clawhub/owner/pdf-tool@1.2.3":                              {"SKILL.md", "scripts/a.py"},
		"lobehub/pdf-helper":                                        {"SKILL.md"},
		"well-known:" + site + "/.well-known/agent-skills/pdf":      {"SKILL.md", "references/forms.md"},
		site + "/.well-known/agent-skills/packed":                   {"SKILL.md"},
		site + "/.well-known/agent-skills/single":                   {"SKILL.md"},
		site + "/docs/SKILL.md":                                     {"SKILL.md", "references/forms.md"},
	} {
		p, err := h.Fetch(t.Context(), id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		var got []string
		for _, f := range p.Files {
			got = append(got, f.Path)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || p.Source == "" || p.Identifier == "" {
			t.Errorf("%s: %s %s\n%s", id, p.Source, p.Identifier, diff)
		}
		again, err := h.Fetch(t.Context(), p.Identifier)
		if err != nil || again.Identifier != p.Identifier {
			t.Errorf("%s cannot be fetched again as %s: %v", id, p.Identifier, err)
		}
	}
}

func TestLinksComeAsLinks(t *testing.T) {
	t.Parallel()
	h, _ := world(t)
	p, err := h.Fetch(t.Context(), "anthropics/skills/skills/pdf")
	if err != nil {
		t.Fatal(err)
	}
	if v := guard.Scan(p.Files, guard.Options{}).Verdict(); v != guard.Dangerous {
		t.Errorf("a link that points outside is rated %s", v)
	}
}

func TestFetchRefuses(t *testing.T) {
	t.Parallel()
	h, site := world(t)
	for id, want := range map[string]string{
		"pdf":                       "is not a skill identifier",
		"anthropics/skills":         "has 2 skills",
		"anthropics/skills@nope":    "has 2 skills",
		"anthropics/skills/none":    "no skill in",
		"anthropics/skills/../../x": "is not a folder of a repository",
		"a/b/c":                     "not found",
		"limited/out@x":             "wait 34 seconds",
		"clawhub/bad":               "malware",
		"clawhub/none":              "not found",
		"lobehub/poet":              "no instructions",
		"skills-sh/x":               "not owner/repo/skill",
		"claude-marketplace/anthropics/skills/none":            "no plugin",
		"claude-marketplace/anthropics/skills/document-skills": "has 2 skills",
		"claude-marketplace/anthropics/skills/odd/x":           "is invalid",
		site + "/.well-known/agent-skills/forged":              "does not match its digest",
		site + "/.well-known/agent-skills/climbs":              "is not a valid path",
		site + "/.well-known/agent-skills/none":                "has no skill",
		site + "/broken/.well-known/skills/x":                  "not found",
		"http://example.com/SKILL.md":                          "https only",
		"./nowhere-at-all":                                     "no such file",
	} {
		if _, err := h.Fetch(t.Context(), id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", id, err, want)
		}
	}
	if _, err := h.Fetch(t.Context(), "clawhub/none"); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("%v wraps no ErrNotFound", err)
	}
}

func TestLobeHubAgentsBecomeSkills(t *testing.T) {
	t.Parallel()
	h, _ := world(t)
	p, err := h.Fetch(t.Context(), "lobehub/pdf-helper")
	if err != nil {
		t.Fatal(err)
	}
	text := string(p.Files[0].Data)
	for _, want := range []string{"name: pdf-helper\n", `description: "Reads \"PDFs\""`, `tags: ["docs"]`, "You read PDFs."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestLocalFolder(t *testing.T) {
	t.Parallel()
	h, _ := world(t)
	dir := filepath.Join(t.TempDir(), "pdf")
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "references"), 0o700), os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(doc), 0o600),
		os.WriteFile(filepath.Join(dir, "references", "forms.md"), []byte("forms"), 0o600)); err != nil {
		t.Fatal(err)
	}
	p, err := h.Fetch(t.Context(), dir)
	if err != nil || len(p.Files) != 2 || p.Source != "folder" {
		t.Errorf("%+v, %v", p, err)
	}
}

// zeros is a small archive of a file with n zero bytes.
func zeros(t *testing.T, n int64) string {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: "r/deep/big", Mode: 0o644, Size: n, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 1<<20)
	for range n >> 20 {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestBombs checks that archives cannot fill the memory.
func TestBombs(t *testing.T) {
	t.Parallel()
	many := map[string]string{"SKILL.md": doc}
	for i := range 1000 {
		many[fmt.Sprintf("references/%d.md", i)] = "x"
	}
	huge := zeros(t, 260<<20)
	bombs := map[string]string{
		"/repos/a/b/tarball":                   huge,
		"/api/v1/skills/many":                  `{"latestVersion":{"version":"1"}}`,
		"/api/v1/download?slug=many&version=1": zipped(t, many),
		"/api/v1/skills/torn":                  `{"latestVersion":{"version":"1"}}`,
		"/api/v1/download?slug=torn&version=1": "PK\x03\x04 nothing",
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, ok := bombs[r.URL.RequestURI()]; ok {
			_, _ = w.Write([]byte(text))
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	h := hub.New(hub.Config{Client: s.Client(), Bases: hub.Bases{GitHub: s.URL, ClawHub: s.URL}})
	for id, want := range map[string]string{"a/b/deep": "archive is too large", "clawhub/many": "archive is too large", "clawhub/torn": "damaged"} {
		if _, err := h.Fetch(t.Context(), id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", id, err, want)
		}
	}
}
