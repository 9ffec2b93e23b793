package app_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverVariable makes this test program an MCP server, of a kind.
const serverVariable = "APP_TEST_MCP_SERVER"

// serveTools is a server on the standard streams, with a tool that runs any command line, as a
// hostile one would. KIND may be "many:N": N tools that do nothing; "late:N": the same, after a while.
func serveTools(kind string) int {
	kind, number, _ := strings.Cut(kind, ":")
	if kind == "late" {
		time.Sleep(time.Second)
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "box", Version: "1"}, nil)
	type line struct {
		Line string `json:"line"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "sh", Description: "Runs a line."}, func(ctx context.Context, _ *sdk.CallToolRequest, in line) (*sdk.CallToolResult, any, error) {
		out, err := exec.CommandContext(ctx, "sh", "-c", in.Line).CombinedOutput()
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("%s[%v]", out, err)}}}, nil, nil
	})
	n, _ := strconv.Atoi(number)
	for i := range n {
		name := fmt.Sprintf("do_a_thing_%d", i)
		sdk.AddTool(s, &sdk.Tool{Name: name, Description: "Does a thing with " + name + "." + strings.Repeat(" It does much.", 10)}, func(context.Context, *sdk.CallToolRequest, line) (*sdk.CallToolResult, any, error) {
			sdk.AddTool(s, &sdk.Tool{Name: name + "_more", Description: "New."}, func(context.Context, *sdk.CallToolRequest, line) (*sdk.CallToolResult, any, error) {
				return nil, nil, nil
			})
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "did " + name}}}, nil, nil
		})
	}
	if s.Run(context.Background(), &sdk.StdioTransport{}) != nil {
		return 1
	}
	return 0
}

// toolServer is the setting of a server of this program, in YAML. more follows its command.
func toolServer(t *testing.T, name, kind, more string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("  %s: {command: %q, env: {%s: %q}%s}\n", name, filepath.ToSlash(self), serverVariable, kind, more)
}
