package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/mcp"
	"hermes/internal/mcp/setting"
	"hermes/internal/trust"
)

// projectServers is a .mcp.json with one server that is this program, and leaves a file when it runs.
func projectServers(t *testing.T, name string, env map[string]string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := map[string]string{serverVariable: "plain"}
	for k, v := range env {
		e[k] = v
	}
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{name: map[string]any{"command": self, "env": e}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// decideTrust keeps what the user of a home thinks of a folder.
func decideTrust(t *testing.T, home, dir string, d trust.State) {
	t.Helper()
	a := app.New(app.Options{Home: home})
	p, _, err := a.Project(dir)
	if err != nil {
		t.Fatal(err)
	}
	store, err := a.Trust()
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Set(t.Context(), p, d, "user"); err != nil {
		t.Fatal(err)
	}
}

// TestServersOfAProjectStartOnlyAfterTrust: not before, as what was hashed, without the keys of Hermes,
// not any more once the file has changed, and with approvals of their own.
func TestServersOfAProjectStartOnlyAfterTrust(t *testing.T) { // not parallel: it sets the folder
	s := newScene(t, hermes.AllowOnce)
	s.options = func(o *app.Options) {
		env := map[string]string{"PATH": os.Getenv("PATH"), "ANTHROPIC_API_KEY": "CANARY-KEY-0123456789", "SOME_TOKEN": "fine-0123456789", "STORED_KEY": "CANARY-STORED-0123456789"}
		o.Getenv = func(name string) string { return env[name] }
	}
	writeFile(t, filepath.Join(s.home, ".env"), "STORED_KEY=CANARY-STORED-0123456789\n")
	t.Chdir(s.dir)
	states := func() (list []mcp.State) {
		s.quit()
		s.say("hello")
		return s.app.KnownMCP()
	}
	decide := func(dir string, d trust.State) { t.Helper(); decideTrust(t, s.home, dir, d) }
	vars := map[string]string{"A": "${ANTHROPIC_API_KEY}", "B": "${SOME_TOKEN}", "C": "${env:STORED_KEY}", "D": "${OPENAI_API_KEY:-none}"}
	s.write(".mcp.json", projectServers(t, "db", vars))
	if got := states(); len(got) != 0 {
		t.Errorf("before trust: %+v", got)
	}
	decide(s.dir, trust.Declined)
	if got := states(); len(got) != 0 {
		t.Errorf("of a folder that is not trusted: %+v", got)
	}
	decide(s.dir, trust.Trusted)
	if got := states(); len(got) != 1 || got[0].Name != "db" {
		t.Fatalf("of a trusted folder: %+v", got)
	}
	server, err := s.app.MCPNamed("db")
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.say(`CALL mcp__db__sh {"line":"echo A=$A B=$B C=$C D=$D; env"}`)
	if got := s.model.results(); strings.Contains(got, "CANARY") || !strings.Contains(got, "B=fine-0123456789") || !strings.Contains(got, "D=none") {
		t.Errorf("the variables of a server of a project: %s", got)
	}
	// A change of the file takes its servers away, also in a reload of the running program.
	s.write(".mcp.json", projectServers(t, "db", map[string]string{"A": "changed"}))
	if _, _, err := s.app.ReloadMCP(false); err != nil {
		t.Error(err)
	}
	if got := s.app.KnownMCP(); len(got) != 0 {
		t.Errorf("after a change, in the same program: %+v", got)
	}
	if got := states(); len(got) != 0 {
		t.Errorf("after a change: %+v", got)
	}
	// Another project has a server of that name, with a home and approvals of its own.
	first := s.dir
	s.dir = t.TempDir()
	t.Chdir(s.dir)
	s.session = ""
	s.write(".mcp.json", projectServers(t, "db", nil))
	decide(s.dir, trust.Trusted)
	if got := states(); len(got) != 1 {
		t.Fatalf("another project: %+v", got)
	}
	if server, err = s.app.MCPNamed("db"); err != nil {
		t.Fatal(err)
	}
	if err := server.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(s.home, "mcp-tools.json"))
	if err != nil {
		t.Fatal(err)
	}
	var kept struct{ Servers map[string]json.RawMessage }
	if err := json.Unmarshal(raw, &kept); err != nil || len(kept.Servers) != 2 {
		t.Errorf("approvals: %s %v", raw, err)
	}
	one := server.Settings()
	two := one
	two.Project = first
	if one.ID() == two.ID() || one.ID() == (setting.Server{Name: "db"}).ID() {
		t.Errorf("both are %s", one.ID())
	}
	s.quit()
}

// TestLoginsOfAProjectAreItsOwn: a server of a project with the name and address of one of the user's
// neither uses, nor replaces, nor removes its login.
func TestLoginsOfAProjectAreItsOwn(t *testing.T) { // not parallel: it sets the folder
	d := newDocuments(t)
	s := newScene(t, hermes.AllowOnce)
	t.Chdir(s.dir)
	client := `"oauth": {"client_id": "hermes"}`
	own := fmt.Sprintf("mcp_servers: {docs: {url: %q, %s}}\n", d.http.URL+"/mcp", client)
	s.config = own
	s.enter()
	login := func() {
		t.Helper()
		l, _, err := s.app.ServerLogin("docs")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Enter(t.Context(), clicker{}, false); err != nil {
			t.Fatal(err)
		}
	}
	login()
	file := filepath.Join(s.home, "mcp-tokens", "docs.json")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s.write(".mcp.json", fmt.Sprintf(`{"mcpServers": {"docs": {"url": %q, %s}}}`, d.http.URL+"/mcp", client))
	decideTrust(t, s.home, s.dir, trust.Trusted)
	s.quit()
	s.session, s.config = "", "" // the user's own is gone for now
	s.say("hello")
	if st := s.phase("docs", mcp.Failed); !strings.Contains(st.Reason, "demands a login") {
		t.Errorf("with the login of the user's server: %+v", st)
	}
	login()
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("the login of the user's server is now %s, %v", after, err)
	}
	l, _, err := s.app.ServerLogin("docs")
	if err != nil {
		t.Fatal(err)
	}
	if was, _, err := l.Out(t.Context()); !was || err != nil {
		t.Error(was, err)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("after a logout of the project's server: %s, %v", after, err)
	}
}
