package hub_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/skill/guard"
	"hermes/internal/skill/hub"
)

func TestPublishOpensAPullRequest(t *testing.T) {
	t.Parallel()
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body)))
		if r.Header.Get("Authorization") != "Bearer tok" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch {
		case r.URL.Path == "/repos/o/r":
			fmt.Fprint(w, `{"default_branch":"main"}`)
		case strings.HasSuffix(r.URL.Path, "/git/ref/heads/main"):
			fmt.Fprint(w, `{"object":{"sha":"abc"}}`)
		case r.Method == http.MethodGet:
			http.NotFound(w, r)
		case strings.HasSuffix(r.URL.Path, "/pulls"):
			fmt.Fprint(w, `{"html_url":"https://github.com/o/r/pull/7"}`)
		default:
			fmt.Fprint(w, `{}`)
		}
	}))
	t.Cleanup(s.Close)
	h := hub.New(hub.Config{Client: s.Client(), Token: "tok", Bases: hub.Bases{GitHub: s.URL}})
	at, err := h.Publish(t.Context(), "o/r", "pdf", []guard.File{{Path: "SKILL.md", Data: []byte("x")}})
	if err != nil || at != "https://github.com/o/r/pull/7" {
		t.Fatal(at, err)
	}
	want := []string{
		"GET /repos/o/r", "GET /repos/o/r/git/ref/heads/main",
		`POST /repos/o/r/git/refs {"ref":"refs/heads/skill-pdf","sha":"abc"}`,
		"GET /repos/o/r/contents/skills/pdf/SKILL.md",
		`PUT /repos/o/r/contents/skills/pdf/SKILL.md {"branch":"skill-pdf","content":"eA==","message":"add skill pdf: SKILL.md"}`,
		`POST /repos/o/r/pulls {"base":"main","head":"skill-pdf","title":"Skill: pdf"}`,
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	if _, err := hub.New(hub.Config{Client: s.Client()}).Publish(t.Context(), "o/r", "pdf", nil); err == nil {
		t.Error("published without a token")
	}
}
