package setting_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/internal/mcp/setting"
)

func parse(t *testing.T, text string, v setting.Vars) (setting.Server, []string, error) {
	t.Helper()
	var raw any
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		t.Fatal(err)
	}
	return setting.Parse("my server", raw, v)
}

func TestSettingsOfAProgram(t *testing.T) {
	v := setting.Vars{Home: "/home/ann", Workspace: "/src/app", Lookup: func(n string) (string, bool) { return "secret", n == "KEY" }}
	s, notes, err := parse(t, `{"command":"${userHome}/bin/x","args":["--root","${workspaceFolder}",8,"${env:KEY}","${NOPE:-else}"],"env":{"TOKEN":"${KEY}","N":1},
		"cwd":"~/w","timeout":"90","connect_timeout":5,"keepalive_interval":1,"idle_timeout_seconds":60,"max_lifetime_seconds":3600,"supports_parallel_tool_calls":true,
		"trust":"untrusted","tools":{"include":["a*"],"prompts":false},"reach":{"hosts":["api.example.org"],"write":["~/out"]},
		"elicitation":{"timeout":9},"sampling":{"enabled":false},"protocol":"legacy"}`, v)
	if err != nil || len(notes) != 0 {
		t.Fatal(err, notes)
	}
	want := setting.Server{
		Name: "my server",
		Program: setting.Program{
			Command: "/home/ann/bin/x", Args: []string{"--root", "/src/app", "8", "secret", "else"}, Env: map[string]string{"TOKEN": "secret", "N": "1"}, Dir: "/home/ann/w",
			Reach: setting.Reach{Hosts: []string{"api.example.org:443"}, Write: []string{"/home/ann/out"}},
		},
		Times:       setting.Times{Call: 90 * time.Second, Connect: 5 * time.Second, KeepAlive: 5 * time.Second, Idle: time.Minute, Lifetime: time.Hour},
		Tools:       setting.Filter{Include: []string{"a*"}, Resources: true},
		Elicitation: setting.Elicitation{Timeout: 9 * time.Second}, Sampling: setting.Sampling{Disabled: true, MaxTokens: 4096, PerMinute: 10, Timeout: 30 * time.Second},
		Untrusted: true, Parallel: true, Protocol: setting.ProtocolLegacy,
	}
	a, _ := json.Marshal(s)
	b, _ := json.Marshal(want)
	if string(a) != string(b) {
		t.Errorf("got  %s\nwant %s", a, b)
	}
}

func TestSettingsOfAService(t *testing.T) {
	s, notes, err := parse(t, `{"type":"sse","url":"https://x.example/sse","command":"ignored","headers":{"Authorization":"Bearer k"},"auth":"oauth",
		"oauth":{"client_id":"i","scope":["a","b"],"redirect_port":27890,"flow":"device"},"client_cert":["c.pem","k.pem"],"ssl_verify":"ca.pem","identity_header":"X-User"}`, setting.Vars{})
	if err != nil || len(notes) != 0 {
		t.Fatal(err, notes)
	}
	r := s.Remote
	if r == nil || !r.SSE || r.Headers["Authorization"] != "Bearer k" || r.OAuth.Scope != "a b" || !r.OAuth.Device || r.TLS != (setting.TLS{Cert: "c.pem", Key: "k.pem", CA: "ca.pem"}) || r.IdentityHeader != "X-User" {
		t.Errorf("%+v", r)
	}
	if s.Times.Call != 300*time.Second || s.Times.Connect != time.Minute || s.Untrusted {
		t.Errorf("defaults: %+v", s)
	}
}

// TestWrongSettingsSayWhatToDo, and an unknown word of trust means the careful one.
func TestWrongSettingsSayWhatToDo(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: "is not a mapping with a command or a url", `{}`: "neither a command nor a url", `{"command":5.5,"args":"x"}`: "args cannot be a string",
		`{"url":"ftp://x"}`: "begins with https://", `{"url":"javascript:alert(1)"}`: "begins with https://", `{"url":"https://x","headers":{"A\nB":"c"}}`: "header",
		`{"url":"https://x","headers":{"A":"c\r\nD: e"}}`: "header", `{"command":"x","timeout":0}`: "more than 0", `{"command":"x","timeout":"soon"}`: "number of seconds",
		`{"command":"x","cwd":"rel"}`: "absolute path", `{"command":"x","reach":{"write":["rel"]}}`: "absolute path", `{"command":"x","tools":{"include":["["]}}`: "malformed",
		`{"url":"https://x","auth":"basic"}`: "use oauth", `{"url":"https://x","transport":"ws"}`: "use http or sse", `{"command":"x","env":{"A=B":"c"}}`: "no variable can have",
		`{"command":"x","protocol":"new"}`: "use auto, stateless or legacy", `{"url":"https://x","client_key":"k"}`: "without client_cert", `{"command":"a\u0000b"}`: "NUL",
	} {
		if _, _, err := parse(t, text, setting.Vars{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	_, notes, err := parse(t, `{"command":"x","timout":5,"tools":{"inclde":[]},"alwaysAllow":["x"],"env":{"A":"${MISSING}"}}`, setting.Vars{})
	if err != nil || len(notes) != 4 || !strings.Contains(strings.Join(notes, "\n"), `"timout" is not known`) || !strings.Contains(strings.Join(notes, "\n"), `"tools.inclde"`) || !strings.Contains(notes[0], "MISSING") {
		t.Errorf("%v %q", err, notes)
	}
	for word, untrusted := range map[string]bool{"full": false, "untrusted": true, "ful": true, "FULL": true, "": true} {
		if s, _, _ := parse(t, `{"command":"x","trust":"`+word+`"}`, setting.Vars{}); s.Untrusted != untrusted {
			t.Errorf("trust %q: untrusted %v", word, s.Untrusted)
		}
	}
}

// TestProgramsReadWhatBelongsToThem, and never a whole home.
func TestProgramsReadWhatBelongsToThem(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, text string) string {
		at := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return at
	}
	python := file("venv/bin/python", "")
	server := file("venv/bin/server", "#!"+python+"\n")
	module := file("app/node_modules/thing/dist/index.js", "#!/usr/bin/env node\n")
	own := file("loose.py", "")
	keys := file(".aws/config", "")
	if err := os.Chmod(keys, 0o600); err != nil {
		t.Fatal(err)
	}
	hidden := file(".ssh/tool.py", "")
	script := file("servers/notes/main.py", "")
	data := filepath.Join(home, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		s    setting.Server
		want []string
	}{
		{setting.Server{Program: setting.Program{Command: server}}, []string{python, server, home + "/venv"}},
		{setting.Server{Program: setting.Program{Command: "server"}}, []string{python, server, home + "/venv"}},
		{setting.Server{Program: setting.Program{Command: "server", Args: []string{"--config", keys, hidden}}}, []string{python, server, home + "/venv", keys, hidden}},
		{setting.Server{Program: setting.Program{Command: module}}, []string{module, home + "/app/node_modules"}},
		{setting.Server{Program: setting.Program{Command: "server", Args: []string{own, "--data=" + data}}}, []string{python, server, home + "/venv", own, data}},
		{setting.Server{Program: setting.Program{Command: "server", Args: []string{script, "relative"}}}, []string{python, server, home + "/venv", script, home + "/servers/notes"}},
	} {
		got := slices.DeleteFunc(row.s.Reads(home+"/venv/bin", home), func(p string) bool { return !strings.HasPrefix(p, home) })
		slices.Sort(row.want)
		if !slices.Equal(got, row.want) {
			t.Errorf("%+v reads %q, want %q", row.s, got, row.want)
		}
	}
}

func FuzzParseServer(f *testing.F) {
	f.Add(`{"command":"x","args":[1,null,{}],"env":{"a":[]}}`)
	f.Add(`{"url":"https://a","oauth":{"scope":5}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var raw any
		if json.Unmarshal([]byte(text), &raw) != nil {
			return
		}
		s, _, err := setting.Parse("x", raw, setting.Vars{Home: "/h"})
		if err == nil && s.Command == "" && s.Remote == nil {
			t.Errorf("%s: a server that is neither a program nor a service", text)
		}
	})
}
