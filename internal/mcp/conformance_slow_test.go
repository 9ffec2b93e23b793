//go:build slow && unix

package mcp_test

import (
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/mcp"
	"hermes/internal/mcp/login"
	"hermes/internal/mcp/remote"
	"hermes/internal/mcp/setting"
)

// TestConformance runs the public suite for clients, in both versions of the protocol. It starts
// this program again for each scenario, as TestActsAsClient. Nothing that the versions require may
// fail; the suite also runs extensions that it does not score.
func TestConformance(t *testing.T) {
	suite := counterparts(t, "node/node_modules/.bin/conformance")
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), suite, "client", "--command", os.Args[0]+" -test.run=^TestActsAsClient$ -test.v -test.timeout=60s",
				"--requirements", version)
			c.Env = append(os.Environ(), "PATH="+filepath.Dir(suite)+":"+os.Getenv("PATH"))
			out, err := c.CombinedOutput()
			if i := strings.Index(string(out), "=== SUITE SUMMARY"); err == nil && i >= 0 {
				out = out[i:]
			}
			t.Logf("%s", out)
			if err != nil || !strings.Contains(string(out), "auth/pre-registration") {
				t.Error(err)
			}
		})
	}
}

// TestActsAsClient is what the suite starts: it uses the server at the address that is the last
// argument as a session does, with every tool once.
func TestActsAsClient(t *testing.T) {
	scenario := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	if scenario == "" {
		t.Skip("the public suite starts it, in TestConformance")
	}
	type call struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	var with struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		Calls        []call `json:"toolCalls"`
	}
	if raw := os.Getenv("MCP_CONFORMANCE_CONTEXT"); raw != "" {
		if err := json.Unmarshal([]byte(raw), &with); err != nil {
			t.Fatal(err)
		}
	}
	address := flag.Arg(flag.NArg() - 1)
	link, err := remote.New(remote.Config{URL: address})
	if err != nil {
		t.Fatal(err)
	}
	c := login.Config{
		Server: "test", URL: address, Path: filepath.Join(t.TempDir(), "tokens", "test.json"), Link: link,
		Client: login.Client{ID: with.ClientID, Secret: with.ClientSecret},
	}
	if scenario == "auth/basic-cimd" {
		c.Client.Document = "https://conformance-test.local/client-metadata.json"
	}
	l := login.New(c)
	connect := func() *fixture {
		return startHTTP(t, address, func(s *setting.Server, cfg *mcp.Config) {
			if os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION") < "2026" {
				s.Protocol = setting.ProtocolLegacy
			}
			cfg.Client = func(setting.Server) (*http.Client, error) { return l.Through(link.Server), nil }
			cfg.Sample = sampled
		})
	}
	f := connect()
	enter := func() {
		t.Helper()
		_, err := l.Enter(t.Context(), visitor{t: t}, false)
		if err != nil && strings.Contains(err.Error(), "hermes mcp logout") { // another login service, which the user has to agree to
			if _, _, err := l.Out(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, err = l.Enter(t.Context(), visitor{t: t}, false)
		}
		if err != nil && !errors.Is(err, login.ErrNotDemanded) {
			t.Fatal(err)
		}
	}
	for range 3 { // the list of tools may need more rights than the connection
		err := f.server.Ready(t.Context())
		if err == nil {
			break
		}
		if !needed(err) {
			t.Fatal(err)
		}
		enter()
		f = connect()
	}
	if len(with.Calls) == 0 {
		for _, tool := range f.server.State().Tools {
			with.Calls = append(with.Calls, call{tool.Original, arguments(f, tool.Original)})
		}
	}
	for _, call := range with.Calls {
		for range 2 { // a call may need more than was granted
			h := &host{session: "s", approve: hermes.AllowOnce, empty: true}
			r, _, err := f.call(t.Context(), h, call.Name, string(call.Arguments), true)
			t.Logf("%s %s: %.300q %v", call.Name, call.Arguments, r.Text, err)
			if !needed(err) {
				break
			}
			enter()
		}
	}
}

// needed reports whether the user has to log in.
func needed(err error) bool {
	return err != nil && strings.Contains(err.Error(), "hermes mcp login")
}

// arguments are some that fit the schema of a tool.
func arguments(f *fixture, name string) json.RawMessage {
	for _, t := range f.live() {
		if t.Spec().Name != mcp.ToolName("test", name, nil) {
			continue
		}
		var schema struct {
			Properties map[string]struct {
				Type string `json:"type"`
				Enum []any  `json:"enum"`
			} `json:"properties"`
			Required []string `json:"required"`
		}
		if json.Unmarshal(t.Spec().Schema, &schema) != nil {
			break
		}
		out := map[string]any{}
		for _, key := range schema.Required {
			p := schema.Properties[key]
			switch {
			case len(p.Enum) > 0:
				out[key] = p.Enum[0]
			case p.Type == "number" || p.Type == "integer":
				out[key] = 2
			case p.Type == "boolean":
				out[key] = true
			case p.Type == "array":
				out[key] = []any{}
			case p.Type == "object":
				out[key] = map[string]any{}
			default:
				out[key] = "x"
			}
		}
		raw, _ := json.Marshal(out)
		return raw
	}
	return json.RawMessage(`{}`)
}
