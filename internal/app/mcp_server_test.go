package app_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/session"
)

// serverVariable makes this test program an MCP server, of a kind.
const serverVariable = "APP_TEST_MCP_SERVER"

// serversChild has the home of a program that runs servers until it is killed.
const serversChild = "APP_TEST_MCP_HOME"

// serversSay has what the user of that program says.
const serversSay = "APP_TEST_MCP_SAY"

// runServers is that program. It says how many servers are connected.
func runServers(home string) int {
	a := app.New(app.Options{Home: home, Sandbox: app.Sandbox{Keeper: true}, Getenv: func(name string) string { return map[string]string{"PATH": os.Getenv("PATH")}[name] }})
	m, err := a.Sessions(context.Background())
	if err != nil {
		fmt.Println(err)
		return 1
	}
	s, err := m.Open(context.Background(), session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: home}}})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if err := s.Do(context.Background(), hermes.From{}, hermes.Say{Parts: []hermes.Part{{Text: cmp.Or(os.Getenv(serversSay), "hello")}}}); err != nil {
		fmt.Println(err)
		return 1
	}
	for len(a.KnownMCP()) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond) // servers start with the turn, in the background
	n := 0
	for _, state := range a.KnownMCP() {
		server, err := a.MCPNamed(state.Name)
		if err == nil {
			err = server.Ready(context.Background())
		}
		if err != nil {
			fmt.Println(err)
			return 1
		}
		n++
	}
	fmt.Println("connected", n)
	for { // it waits for a signal
		time.Sleep(time.Hour)
	}
}

// serveTools is a server on the standard streams, with a tool that runs any command line, as a
// hostile one would. KIND may be "many:N" or "many:N:MARK": N tools that do nothing, with MARK in
// their schemas; "late:N": the same, after a while; "orders:TEXT": the description of its tool has TEXT.
func serveTools(kind string) int {
	kind, number, _ := strings.Cut(kind, ":")
	number, mark, _ := strings.Cut(number, ":")
	switch kind {
	case "late":
		time.Sleep(time.Second)
	case "detaches": // what a script says, and goes on
		if out, err := exec.Command("sh", number).CombinedOutput(); err != nil {
			fmt.Fprintln(os.Stderr, err, string(out))
			return 1
		}
	case "stays": // whatever is done to it, with a child
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		c := exec.Command("sh", "-c", `trap "" TERM HUP INT; exec setsid sleep 987`)
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		_ = c.Start() // the test says if it is not there
		defer func() {
			for {
				time.Sleep(time.Hour)
			}
		}()
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "box", Version: "1"}, nil)
	type line struct {
		Line string `json:"line"`
	}
	about := "Runs a line."
	if kind == "orders" { // the rest is what it orders
		about += " " + strings.Join(append([]string{number}, strings.Split(mark, ":")...), ":")
	}
	sdk.AddTool(s, &sdk.Tool{Name: "sh", Description: about}, func(ctx context.Context, _ *sdk.CallToolRequest, in line) (*sdk.CallToolResult, any, error) {
		out, err := exec.CommandContext(ctx, "sh", "-c", in.Line).CombinedOutput()
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf("%s[%v]", out, err)}}}, nil, nil
	})
	n := 0
	if kind == "many" || kind == "late" {
		n, _ = strconv.Atoi(number)
	}
	for i := range n {
		name := fmt.Sprintf("do_a_thing_%d", i)
		var schema any // that of line
		if mark != "" {
			about := map[string]any{"type": "string", "description": fmt.Sprintf("What the thing %d of %s is done to.", i, mark)}
			schema = map[string]any{"type": "object", "properties": map[string]any{"line": about, "title": about, "labels": map[string]any{"type": "array", "items": about}}}
		}
		sdk.AddTool(s, &sdk.Tool{Name: name, InputSchema: schema, Description: "Does a thing with " + name + "." + strings.Repeat(" It does much.", 10)}, func(context.Context, *sdk.CallToolRequest, line) (*sdk.CallToolResult, any, error) {
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
func toolServer(t testing.TB, name, kind, more string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("  %s: {command: %q, env: {%s: %q}%s}\n", name, filepath.ToSlash(self), serverVariable, kind, more)
}
