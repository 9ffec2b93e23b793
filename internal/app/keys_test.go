//go:build unix

package app_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// TestNoKeyOfHermesReachesACommand names every kind of key in the setting that
// passes variables on and in a skill, and lets the model print the environment.
func TestNoKeyOfHermesReachesACommand(t *testing.T) {
	t.Parallel()
	p := &playing{dir: t.TempDir()}
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: obeying(p)})
	t.Cleanup(server.Close)
	withheld := []string{
		"TELEGRAM_BOT_TOKEN", "SUDO_PASSWORD", "OPENROUTER_API_KEY", "OPENAI_API_KEY_2", "TAVILY_API_KEY", "MEM0_API_KEY", "GITHUB_TOKEN",
		"BOX_KEY", "SPARE", "INLINE_COPY", "STORED_COPY", "SLACK_BOT_TOKEN",
	}
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "approvals: {mode: off}\nsecurity: {redact_secrets: false}\n"+
		"model: {default: \"custom:local:played\"}\nproviders:\n  local: {base_url: \""+server.URL+"/v1\", key_env: BOX_KEY}\n  pin: {base_url: \"http://127.0.0.1:1\", api_key: inline-key-1234-abcdef}\n"+
		"fallback_providers: [{provider: local, model: played, api_key: \"${SPARE}\"}]\n"+
		"terminal: {env_passthrough: ["+strings.Join(withheld, ", ")+", SHOP_TOKEN]}\n")
	writeFile(t, filepath.Join(home, ".env"), "TELEGRAM_BOT_TOKEN=123456789:stored-in-the-file\n")
	writeSkill := filepath.Join(home, "skills", "shop")
	if err := os.MkdirAll(writeSkill, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(writeSkill, "SKILL.md"), "---\nname: shop\ndescription: d\nrequired_environment_variables: [SLACK_BOT_TOKEN, STALL_TOKEN, SUDO_PASSWORD]\n---\nbody\n")
	environ := []string{"PATH=" + os.Getenv("PATH"), "SHOP_TOKEN=canary-shop-token", "STALL_TOKEN=canary-stall-token", "LANG=C"}
	for _, name := range withheld {
		value := "canary-" + strings.ToLower(name) + "-0123456789"
		switch name {
		case "INLINE_COPY":
			value = "inline-key-1234-abcdef"
		case "STORED_COPY":
			value = "bot:123456789:stored-in-the-file"
		}
		environ = append(environ, name+"="+value)
	}
	a := app.New(app.Options{
		Home:    home,
		Environ: func() []string { return environ },
		Getenv: func(name string) string {
			for _, v := range environ {
				if n, value, _ := strings.Cut(v, "="); n == name {
					return value
				}
			}
			return ""
		},
	})
	t.Cleanup(func() { _ = a.Close() })
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: p.dir}}, From: hermes.From{Attends: true}})
	got := turn(t, s, "$ env", &pausing{}).Text
	for _, name := range withheld {
		if strings.Contains(got, name+"=") {
			t.Errorf("a command sees %s", name)
		}
	}
	for _, want := range []string{"SHOP_TOKEN=canary-shop-token", "STALL_TOKEN=canary-stall-token"} {
		if !strings.Contains(got, want) {
			t.Errorf("a command does not see %s:\n%s", want, got)
		}
	}
	cfg, err := a.Config()
	if err != nil {
		t.Fatal(err)
	}
	var warnings strings.Builder
	for _, w := range cfg.Warnings() {
		warnings.WriteString(w.String() + "\n")
	}
	for _, want := range []string{"names TELEGRAM_BOT_TOKEN, which holds a key of Telegram", "names SUDO_PASSWORD, which holds the sudo password", "names OPENROUTER_API_KEY, which holds a key of OpenRouter", "names BOX_KEY, which holds the key that providers.local.key_env names"} {
		if !strings.Contains(warnings.String(), want) {
			t.Errorf("no warning %q:\n%s", want, warnings.String())
		}
	}
	if strings.Contains(warnings.String(), "SHOP_TOKEN") {
		t.Error("a variable that is passed on is reported")
	}
	lib, err := a.Skills()
	if err != nil {
		t.Fatal(err)
	}
	view, err := lib.View(t.Context(), "shop", "")
	if err != nil {
		t.Fatal(err)
	}
	if notes := view.Notes(); !strings.Contains(notes, "Not passed to commands: SLACK_BOT_TOKEN") || !strings.Contains(notes, "Not passed to commands: SUDO_PASSWORD") || strings.Contains(notes, "commands: STALL_TOKEN") {
		t.Errorf("the view of the skill:\n%s", notes)
	}
}

// TestOrdinaryWordsAreNotMasked: the value of a variable with a secret name is looked for in
// every text only if it is no ordinary word.
func TestOrdinaryWordsAreNotMasked(t *testing.T) {
	t.Parallel()
	a := app.New(app.Options{
		Home:   t.TempDir(),
		Getenv: func(string) string { return "" },
		Environ: func() []string {
			return []string{"DB_PASSWORD=postgres", "PGPASSWORD=correct horse battery", "SHOP_PASSWORD=canary 7 anchor violet"}
		},
	})
	t.Cleanup(func() { _ = a.Close() })
	const text = "postgres runs; correct horse battery; canary 7 anchor violet"
	if got, want := a.Mask(text), "postgres runs; correct horse battery; ***"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFoldersAreNotMasked: shells set PWD, which is no password, and other variables with
// secret names may hold paths.
func TestFoldersAreNotMasked(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "project-2026")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	gone := dir + "-gone"
	a := app.New(app.Options{
		Home:   t.TempDir(),
		Getenv: func(string) string { return "" },
		Environ: func() []string {
			return []string{"PWD=" + gone, "OLDPWD=" + gone, "SIGNING_KEY=" + dir, "SHOP_SECRET=/canary7+anchor/violet="}
		},
	})
	t.Cleanup(func() { _ = a.Close() })
	text := gone + " is not " + dir + " "
	if got := a.Mask(text + "/canary7+anchor/violet="); got != text+"***" {
		t.Errorf("got %q", got)
	}
}
