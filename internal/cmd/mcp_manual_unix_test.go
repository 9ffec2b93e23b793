//go:build unix

package cmd_test

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
)

// example is a block of the manual that is marked to be run.
var example = regexp.MustCompile("(?s)<!-- run -->\n```(sh|json)\n(.*?)\n```\n")

// TestTheManualOfTheMCPServer: its examples run as they are, but for the port, and its table has
// the tools that there are.
func TestTheManualOfTheMCPServer(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "mcp-server.md"))
	if err != nil {
		t.Fatal(err)
	}
	p := newUser(t)
	if err := p.store().CreateSession(t.Context(), hermes.Session{ID: "20261128_garden", Platform: "cli", Title: "Garden", Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
	examples := example.FindAllStringSubmatch(string(raw), -1)
	if len(examples) != 3 {
		t.Fatalf("the manual has %d examples", len(examples))
	}
	for _, x := range examples {
		if x[1] == "sh" {
			p.runsExample(x[2])
			continue
		}
		type server struct {
			Command string
			Args    []string
		}
		var file struct {
			Servers    map[string]server
			MCPServers map[string]server `json:"mcpServers"`
		}
		if err := json.Unmarshal([]byte(x[2]), &file); err != nil {
			t.Fatal(err)
		}
		s := file.MCPServers["hermes"]
		if s.Command == "" {
			s = file.Servers["hermes"]
		}
		if s.Command != "hermes" {
			t.Fatalf("%s starts %q", x[2], s.Command)
		}
		c, err := mcp.NewClient(&mcp.Implementation{Name: "editor", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: p.command(s.Args...)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range list.Tools {
			if !strings.Contains(string(raw), "\n| `"+k.Name+"`") && !strings.Contains(string(raw), ", `"+k.Name+"` |") {
				t.Errorf("the manual does not have the tool %s", k.Name)
			}
		}
		_ = c.Close()
	}
}

// runsExample runs the example for curl with another port.
func (p *user) runsExample(script string) {
	p.t.Helper()
	if _, err := exec.LookPath("curl"); err != nil && os.Getenv("CI") != "true" {
		p.t.Skip(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free a moment later
	if err != nil {
		p.t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	bin := p.t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(bin, "hermes")); err != nil {
		p.t.Fatal(err)
	}
	c := exec.CommandContext(p.t.Context(), "sh", "-c", strings.ReplaceAll(script, "8123", port)+"\nwait")
	c.Dir, c.Env = p.dir, append(p.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := c.CombinedOutput()
	if !strings.Contains(string(out), `"title":"Garden"`) || err != nil {
		p.t.Errorf("the example printed %s, %v", out, err)
	}
}
