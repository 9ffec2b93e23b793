package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/session"
	"hermes/internal/store/sqlite"
)

// TestVacuumAfterPrune ends a chat in a home whose old sessions are due for removal: the file
// shrinks, unless sessions.vacuum_after_prune is off or it shrank a short while ago.
func TestVacuumAfterPrune(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string][2]bool{ // after the first chat, and after another
		"":                               {true, false},
		"min_vacuum_interval_days: 0":    {true, true},
		"vacuum_after_prune: false":      {false, false},
		"auto_prune: false":              {false, false},
		"min_vacuum_interval_days: soon": {true, false},
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: m, provider: custom, base_url: \"http://127.0.0.1:9/v1\"}\nsessions: {min_interval_hours: 0, "+settings+"}\n")
			now := noon().AddDate(1, 0, 0)
			for i, shrinks := range want {
				fill(t, home, i, now.AddDate(0, 0, -200))
				before := size(t, home)
				a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }, Now: func() time.Time { return now }})
				mustOpen(t, a, session.Open{From: hermes.From{Attends: true}})
				if err := a.Close(); err != nil {
					t.Fatal(err)
				}
				if got := size(t, home) < before*3/4; got != shrinks {
					t.Errorf("chat %d: %d bytes became %d; want it to shrink: %v", i+1, before, size(t, home), shrinks)
				}
			}
		})
	}
}

// fill stores a large session that ended at a time.
func fill(t *testing.T, home string, number int, at time.Time) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(home, "hermes.db")})
	if err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprintf("old%d", number)
	if err := s.CreateSession(t.Context(), hermes.Session{ID: id, Platform: "cli", Started: at, Ended: at, EndReason: "done"}); err != nil {
		t.Fatal(err)
	}
	m := hermes.UserText(strings.Repeat("a long story of the old days ", 40_000))
	m.Time = at
	if _, err := s.Commit(t.Context(), hermes.Lease{Session: id}, hermes.Change{Append: []hermes.Message{m}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// size is the size of a home's database.
func size(t *testing.T, home string) int64 {
	t.Helper()
	st, err := os.Stat(filepath.Join(home, "hermes.db"))
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}

// TestSystemPromptOfTheSettings has the user's own text and a personality in the system prompt.
func TestSystemPromptOfTheSettings(t *testing.T) {
	t.Parallel()
	const persons = "personalities: {poet: Answer in verse., clerk: Answer in forms.}"
	for settings, want := range map[string]string{
		"":                                      "",
		"agent: {system_prompt: Say please.}\n": "Say please.",
		"agent: {" + persons + "}\n":            "",
		"agent: {" + persons + "}\ndisplay: {personality: poet}\n":                              "Answer in verse.",
		"agent: {" + persons + ", system_prompt: Say please.}\ndisplay: {personality: clerk}\n": "Say please.\n\nAnswer in forms.",
		"agent: {" + persons + "}\ndisplay: {personality: none}\n":                              "",
		"agent: {" + persons + "}\ndisplay: {personality: pirate}\n":                            "",
	} {
		server := serve(t, "hello")
		home := t.TempDir()
		writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: m, provider: custom, base_url: \""+server.URL+"/v1\"}\nauxiliary: {title_generation: {enabled: false}}\n"+settings)
		a := openHome(t, home)
		_, done := say(t, a, "", "hello")
		if err := a.Close(); err != nil || done.Failure != nil {
			t.Fatal(err, done.Err())
		}
		var got []string
		system := server.seen[0].Messages[0].Text()
		for _, text := range []string{"Say please.", "Answer in verse.", "Answer in forms."} {
			if strings.Contains(system, text) {
				got = append(got, text)
			}
		}
		if strings.Join(got, "\n\n") != want || want != "" && !strings.Contains(system, want) {
			t.Errorf("%s: got %q, want %q", settings, got, want)
		}
	}
}

// TestStreamOnlyAddresses has a side task stream although model.streaming is off, because its
// address answers nothing else.
func TestStreamOnlyAddresses(t *testing.T) {
	t.Parallel()
	for _, only := range []bool{false, true} {
		server := serve(t, "A title")
		home := t.TempDir()
		settings := "model: {default: m, provider: custom, base_url: \"" + server.URL + "/v1\", streaming: false}\n"
		if only {
			settings += "auxiliary: {stream_only_base_urls: [\"" + server.URL + "/v1/\"]}\n"
		}
		writeFile(t, filepath.Join(home, "config.yaml"), settings)
		if title := titleOf(t, home, "cli", nil); title != "A title" {
			t.Fatalf("the title is %q", title)
		}
		server.mu.Lock()
		for _, r := range server.seen {
			if side := !r.Offers("terminal"); r.Stream != (side && only) {
				t.Errorf("stream only %v: side task %v, streams %v", only, side, r.Stream)
			}
		}
		server.mu.Unlock()
	}
}
