//go:build slow

package mcp_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/environment"
	"hermes/internal/mcp"
	"hermes/internal/mcp/setting"
)

// othersFolder is the folder with servers of others: node_modules of npm, python of pip.
const othersFolder = "HERMES_SLOW_MCP_SERVERS"

// TestServersOfOthers calls every tool of known servers, in Node and Python, of both eras of the
// protocol: each call is answered, and what the server asks reaches the user and the model.
func TestServersOfOthers(t *testing.T) {
	folder := os.Getenv(othersFolder)
	if folder == "" {
		t.Fatal("set " + othersFolder + "; .ci/slow-mcp-client does")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	node, python := filepath.Join(folder, "node_modules", ".bin"), filepath.Join(folder, "python", "bin")
	for _, row := range []struct {
		name, command string
		args          []string
		protocol      string
		tools         int
		calls         map[string][2]string // arguments, and a part of the result
	}{
		{"everything", filepath.Join(node, "mcp-server-everything"), []string{"stdio"}, "2025-11-25", 12, map[string][2]string{
			"echo": {`{"message":"hi"}`, "Echo: hi"}, "get-sum": {`{"a":2,"b":3}`, "5"}, "get-tiny-image": {`{}`, "image"},
			"get-structured-content": {`{"location":"New York"}`, "temperature"}, "get-annotated-message": {`{"messageType":"error","includeImage":true}`, ""},
			"trigger-long-running-operation": {`{"duration":1,"steps":3}`, "completed"}, "get-resource-links": {`{"count":2}`, "resource"},
			"get-resource-reference": {`{"resourceType":"Text","resourceId":1}`, ""}, "trigger-sampling-request": {`{"prompt":"p","maxTokens":10}`, "said by a model"},
			"trigger-elicitation-request": {`{}`, "User provided"}, "get-roots-list": {`{}`, "file://"}, "list_resources": {`{}`, "uri"}, "list_prompts": {`{}`, "prompts"},
		}},
		{"filesystem", filepath.Join(node, "mcp-server-filesystem"), []string{dir}, "2025", 10, map[string][2]string{
			"read_text_file": {fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "a.txt")), "the file"}, "list_directory": {fmt.Sprintf(`{"path":%q}`, dir), "a.txt"},
		}},
		{"memory", filepath.Join(node, "mcp-server-memory"), nil, "2025", 9, map[string][2]string{
			"create_entities": {`{"entities":[{"name":"Ann","entityType":"person","observations":["likes tea"]}]}`, "Ann"}, "read_graph": {`{}`, "likes tea"},
		}},
		{"time", filepath.Join(python, "mcp-server-time"), nil, "2026-07-28", 2, map[string][2]string{"get_current_time": {`{"timezone":"UTC"}`, "UTC"}}},
		{"git", filepath.Join(python, "mcp-server-git"), nil, "2026-07-28", 10, nil},
		{"fetch", filepath.Join(python, "mcp-server-fetch"), nil, "2026-07-28", 1, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			set, _, err := setting.Parse("test", map[string]any{"command": row.command, "args": anyList(row.args), "env": map[string]any{"MEMORY_FILE_PATH": filepath.Join(dir, "m.json")}}, setting.Vars{})
			if err != nil {
				t.Fatal(err)
			}
			servers, err := mcp.New(mcp.Config{
				Cache: dir + "/cache-" + row.name, Approvals: dir + "/" + row.name + ".json", Roots: func() []string { return []string{dir} }, Sample: sampled,
				Environment: func(setting.Server) (hermes.Environment, error) {
					return environment.NewLocal(environment.LocalConfig{Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}})
				},
			}, []setting.Server{set})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { servers.Close() })
			servers.Start()
			f := &fixture{Servers: servers}
			f.server, _ = servers.Server("test")
			if err := f.server.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			state := f.server.State()
			if !strings.HasPrefix(state.Protocol, row.protocol) || len(state.Tools) < row.tools {
				t.Errorf("it speaks %s and has %d tools: %+v", state.Protocol, len(state.Tools), state.Tools)
			}
			for _, name := range slices.Sorted(maps.Keys(row.calls)) { // what is read was written before
				c := row.calls[name]
				h := &host{session: "s", approve: hermes.AllowOnce, agrees: true}
				began := time.Now()
				r, _, err := f.call(t.Context(), h, name, c[0], false)
				if err != nil || r.Failed || !strings.Contains(r.Text, c[1]) {
					t.Errorf("%s: %.400q %v", name, r.Text, err)
				}
				t.Logf("%s: %d questions, %d pictures, progress %q, in %v: %.200q", name, len(h.asked), len(r.Images), h.progress, time.Since(began).Round(time.Millisecond), r.Text)
			}
		})
	}
}

// sampled answers for a model.
func sampled(context.Context, mcp.Sample) (mcp.Sampled, error) {
	return mcp.Sampled{Model: "m", Text: "said by a model"}, nil
}

func anyList(list []string) (out []any) {
	for _, s := range list {
		out = append(out, s)
	}
	return out
}
