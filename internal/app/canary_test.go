//go:build unix

package app_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// canaryForms are the ways in which a command may print a secret.
func canaryForms(secret string) map[string]string {
	each := func(between string, write func(byte) string) string {
		var parts []string
		for i := range len(secret) {
			parts = append(parts, write(secret[i]))
		}
		return strings.Join(parts, between)
	}
	formatted := func(format string) func(byte) string {
		return func(c byte) string { return fmt.Sprintf(format, c) }
	}
	back := []byte(secret)
	for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
		back[i], back[j] = back[j], back[i]
	}
	b64 := base64.StdEncoding.EncodeToString([]byte("ab" + secret + "yz"))
	return map[string]string{
		"plain": secret, "base64": b64, "lines": b64[:14] + "\n" + b64[14:], "hex": hex.EncodeToString([]byte(secret)), "colons": each(":", formatted("%02X")),
		"query": url.QueryEscape(secret), "percent": each("", formatted("%%%02x")), "twice": each("", formatted("%%25%02X")), "json": each("", formatted(`\u%04x`)),
		"html": each("", formatted("&#%d;")), "reversed": string(back), "spaced": each(" ", formatted("%c")), "dashes": each("-", formatted("%c")),
	}
}

// TestNoSecretLeavesInAnyForm plants secrets in a variable, in .env and in the settings,
// lets a command print them in every form and reads the file, and looks at all that
// leaves: requests to the model, events, and the files of the home with the store and
// the logs.
func TestNoSecretLeavesInAnyForm(t *testing.T) {
	t.Parallel()
	planted := map[string]string{"variable": "Env0-canary!q7Zk2", "dotenv": "Dot5-canary!w8Yj3", "settings": "Cfg9-canary!e4Xh6"}
	home, dir := t.TempDir(), t.TempDir()
	const settings = "config.yaml"
	writeFile(t, filepath.Join(home, settings), "approvals: {mode: \"off\"}\nterminal: {sandbox: \"off\"}\ncustom_providers: [{name: shop, base_url: \"http://127.0.0.1:1/v1\", api_key: \""+planted["settings"]+"\"}]\n")
	writeFile(t, filepath.Join(home, ".env"), "SHOP_TOKEN="+planted["dotenv"]+"\n")
	var text strings.Builder
	for source, secret := range planted {
		for form, spelt := range canaryForms(secret) {
			fmt.Fprintf(&text, "%s as %s <%s>\n", source, form, spelt)
		}
	}
	writeFile(t, filepath.Join(dir, "notes.txt"), text.String())

	var mu sync.Mutex
	left := map[string]string{}
	leaves := func(where, what string) {
		mu.Lock()
		defer mu.Unlock()
		left[where] += what + "\n"
	}
	steps := []chatserver.Function{
		{Name: "terminal", Arguments: `{"command":"cat notes.txt"}`},
		{Name: "read_file", Arguments: `{"path":"notes.txt"}`},
		{Name: "search_files", Arguments: `{"pattern":"as"}`},
		{Name: "terminal", Arguments: `{"command":"cat notes.txt >&2; exit 3"}`},
	}
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		results := 0
		for _, m := range r.Messages {
			leaves("request", m.Text())
			if m.Role == "tool" {
				results++
			}
		}
		if last := r.Messages[len(r.Messages)-1]; last.Role != "tool" && results > 0 || results >= len(steps) || len(r.Messages) < 2 {
			return chatserver.Answer{Text: "done"}, nil
		}
		return chatserver.Answer{Calls: []chatserver.Call{{ID: fmt.Sprint("c", results), Type: "function", Function: steps[results]}}}, nil
	}})
	t.Cleanup(server.Close)
	a := app.New(app.Options{Home: home, BaseURL: server.URL + "/v1", BaseModel: "played", Getenv: func(string) string { return "" },
		Environ: func() []string { return []string{"PATH=" + os.Getenv("PATH"), "DEPLOY_TOKEN=" + planted["variable"]} }})
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: dir}}, From: hermes.From{Attends: true}})
	events := mustSay(t, s, "go")
	for done := false; !done; {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatal("the session ended")
			}
			raw, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			leaves("events", string(raw)+fmt.Sprintf("%+v", e))
			_, done = e.(hermes.TurnDone)
		case <-time.After(2 * time.Minute):
			t.Fatal("the turn does not end")
		}
	}
	a.Log().Error("the shop refused", "answer", text.String())
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == ".env" || d.Name() == settings || strings.HasSuffix(d.Name(), "-good.yaml") { // the last is a copy of the settings
			return err
		}
		raw, err := os.ReadFile(path)
		leaves("file "+d.Name(), string(raw))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for where, what := range left {
		if n := strings.Count(what, "***"); n < 3*len(planted) && !strings.HasPrefix(where, "file ") {
			t.Errorf("%s: the secrets were never there (%d masks)", where, n)
		}
		for source, secret := range planted {
			for form, spelt := range canaryForms(secret) {
				if form == "base64" || form == "lines" {
					spelt = spelt[4 : len(spelt)-5] // the ends have bytes of what is around
				}
				quoted, _ := json.Marshal(spelt)
				for _, shown := range []string{spelt, string(quoted[1 : len(quoted)-1])} {
					if strings.Contains(what, shown) {
						t.Errorf("%s show the %s as %s", where, source, form)
						break
					}
				}
			}
		}
	}
}
