package skills_test

import (
	"strings"
	"testing"
)

// TestServersThatASkillUsesAreOffered: without a terminal, and with --yes, nothing is added but it is
// said how; on a terminal a yes adds one that needs nothing of the user.
func TestServersThatASkillUsesAreOffered(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.publish("tool", "Steps.")
	page := "/.well-known/skills/tool/SKILL.md"
	r.pages[page] = strings.Replace(r.pages[page], "---\nSteps", "required_mcp_servers: [time, github, mine]\n---\nSteps", 1)
	id := "well-known:" + r.site + "/.well-known/skills/tool"
	got := r.run("skills", "install", id, "-y")
	for _, want := range []string{"the MCP server time", "`hermes mcp install time`", "`hermes mcp install github`", "mine, which is not in the settings"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	servers := func() int {
		cfg, err := r.factory.Config()
		if err != nil {
			t.Fatal(err)
		}
		return len(cfg.MCPServers())
	}
	if servers() != 0 {
		t.Error("a server was added without a question")
	}
	r.factory.Terminal = func() bool { return true }
	r.run("skills", "uninstall", "tool", "-y")
	r.in = "y\n"
	if got := r.run("skills", "install", id, "-y", "--force"); !strings.Contains(got, "Added time.") || servers() != 1 {
		t.Errorf("%d servers after %s", servers(), got)
	}
}
