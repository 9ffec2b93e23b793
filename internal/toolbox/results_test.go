package toolbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/toolbox"
)

func says(name, text string, limit int) hermes.Tool {
	return tool{spec: hermes.Spec{Name: name, ResultLimit: limit}, run: func(context.Context, *hermes.Call) (hermes.Result, error) {
		return hermes.Result{Text: text}, nil
	}}
}

func TestLargeResultsAreStoredOutsideTheContext(t *testing.T) {
	t.Parallel()
	big := "begin " + strings.Repeat("é", 600) + " end"
	for _, tt := range []struct {
		name  string
		tool  hermes.Tool
		files *files
		spill toolbox.Spill
		id    string
		path  string // where the whole text is, if anywhere
		says  string
	}{
		{name: "fits", tool: says("x", "short", 0), files: &files{onHost: true}, spill: toolbox.Spillover{Dir: "/spill"}, says: "short"},
		{name: "on this machine", tool: says("x", big, 0), files: &files{onHost: true}, spill: toolbox.Spillover{Dir: "/spill"}, path: "/spill/s1/x-c1-", says: "read_file"},
		{name: "elsewhere", tool: says("x", big, 0), files: &files{}, spill: toolbox.Spillover{Dir: "/spill"}, path: "/tmp/hermes-results/s1/x-c1-", says: "1210 bytes"},
		{name: "own limit", tool: says("x", big, 5000), files: &files{onHost: true}, spill: toolbox.Spillover{Dir: "/spill"}, says: " end"},
		{name: "no limit", tool: says("x", big, -1), files: &files{onHost: true}, spill: toolbox.Spillover{Dir: "/spill"}, says: " end"},
		{name: "read_file", tool: says("read_file", big, 0), files: &files{onHost: true}, spill: toolbox.Spillover{Dir: "/spill"}, says: " end"},
		{name: "store fails", tool: says("x", big, 0), files: &files{onHost: true, fail: errors.New("disk full")}, spill: toolbox.Spillover{Dir: "/spill"}, says: "disk full"},
		{name: "no store", tool: says("x", big, 0), says: "Cut: the result has 1210 bytes"},
		{name: "wicked id", tool: says("x", big, 0), files: &files{onHost: true}, spill: toolbox.Spillover{Dir: "/spill"}, id: "../../etc/passwd", path: "/spill/s1/x-______etc_passwd-", says: "read_file"},
	} {
		tools := mustToolbox(t, toolbox.Options{Limits: toolbox.Limits{Result: 1000, Head: 101}, Spill: tt.spill}, tt.tool)
		c := call(tt.tool.Spec().Name, `{}`)
		c.Host = &host{files: tt.files}
		if tt.id != "" {
			c.ID = tt.id
		}
		r := tools.Run(t.Context(), c)
		if !strings.Contains(r.Text, tt.says) || !strings.HasPrefix(r.Text, "begin") && tt.name != "fits" || strings.ContainsRune(r.Text, '\ufffd') {
			t.Errorf("%s: got %q", tt.name, r.Text)
		}
		found := tt.path == ""
		for path, text := range files2map(tt.files) {
			found = tt.path != "" && strings.HasPrefix(path, tt.path) && text == big && !strings.Contains(path, "..")
		}
		if !found || tt.path != "" && (len(r.Text) > 500 || !strings.Contains(r.Text, tt.path)) {
			t.Errorf("%s: stored %v, got %q", tt.name, files2map(tt.files), r.Text)
		}
	}
}

func TestCallsThatShareAnIDDoNotShareAFile(t *testing.T) {
	t.Parallel()
	f := &files{onHost: true}
	text := "a"
	tools := mustToolbox(t, toolbox.Options{Limits: toolbox.Limits{Result: 10, Head: 1}, Spill: toolbox.Spillover{Dir: "/spill"}},
		tool{spec: hermes.Spec{Name: "x"}, run: func(context.Context, *hermes.Call) (hermes.Result, error) {
			return hermes.Result{Text: strings.Repeat(text, 20)}, nil
		}})
	for _, text = range []string{"a", "b", "a"} {
		c := call("x", `{}`)
		c.Host = &host{files: f}
		tools.Run(t.Context(), c)
	}
	if len(f.written) != 2 {
		t.Errorf("stored in %d files, want 2", len(f.written))
	}
}

func files2map(f *files) map[string]string {
	if f == nil {
		return nil
	}
	return f.written
}

func TestATurnsResultsHaveATotal(t *testing.T) {
	t.Parallel()
	limits := toolbox.Limits{Result: 20_000, Turn: 15_000, Head: 100}
	for name, tt := range map[string]struct {
		spill   toolbox.Spill
		batches [][]int // the lengths of results; negative is one of read_file
		want    [][]int // 0: stored, shown by its head
	}{
		"what fits stays":             {toolbox.Spillover{Dir: "/spill"}, [][]int{{7000, 7000, 40}}, [][]int{{7000, 7000, 40}}},
		"the largest is stored first": {toolbox.Spillover{Dir: "/spill"}, [][]int{{6000, 9000, 6500}}, [][]int{{6000, 0, 6500}}},
		"then the next":               {toolbox.Spillover{Dir: "/spill"}, [][]int{{6000, 9000, 6500, 7000}}, [][]int{{6000, 0, 6500, 0}}},
		"batches add up":              {toolbox.Spillover{Dir: "/spill"}, [][]int{{9000}, {3000, 8000}}, [][]int{{9000}, {3000, 0}}},
		"small ones stay":             {toolbox.Spillover{Dir: "/spill"}, [][]int{{15000}, {200, 30}}, [][]int{{15000}, {200, 30}}},
		"files that were read stay":   {toolbox.Spillover{Dir: "/spill"}, [][]int{{-14000, 8000}}, [][]int{{14000, 0}}},
		"without a store it is cut":   {nil, [][]int{{9000, 8000}}, [][]int{{0, 8000}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools := mustToolbox(t, toolbox.Options{Limits: limits, Spill: tt.spill}, says("big", "", 0), says("read_file", "", 0))
			f := &files{onHost: true}
			for turn := range 2 {
				for b, lengths := range tt.batches {
					var calls []*hermes.Call
					var results []*hermes.Result
					for i, n := range lengths {
						c := call("big", `{}`)
						if n < 0 {
							c.Name, n = "read_file", -n
						}
						c.ID, c.Host = fmt.Sprint("c", turn, b, i), &host{files: f}
						calls, results = append(calls, c), append(results, &hermes.Result{Text: strings.Repeat("x", n)})
					}
					tools.FinishBatch(t.Context(), calls, results)
					for i, want := range tt.want[b] {
						text := results[i].Text
						if kept := !strings.Contains(text, "[The result has") && !strings.Contains(text, "[Cut:"); kept != (want > 0) || kept && len(text) != want {
							t.Errorf("turn %d, batch %d, result %d: %d bytes, want %d (0: stored): %.300s", turn, b, i, len(text), want, text)
						}
					}
				}
				tools.TurnStarted() // a new turn has its own total
			}
			if tt.spill == nil && len(files2map(f)) > 0 {
				t.Error("written without a store")
			}
		})
	}
}

func TestPreview(t *testing.T) {
	t.Parallel()
	tools := mustToolbox(t, toolbox.Options{Limits: toolbox.Limits{Preview: 20}})
	for _, tt := range []struct{ name, arguments, want string }{
		{"terminal", `{"command":"go test ./..."}`, "go test ./..."},
		{"terminal", `{"command":"go test\n\t-race   ./... -count=1"}`, "go test -race ./...…"},
		{"read_file", `{"path":"a.go","limit":5}`, "a.go"},
		{"search_files", `{"pattern":"x","path":"."}`, "x"},
		{"process_manage", `{"action":"poll","session_id":"p1"}`, "poll p1"},
		{"process", `{"action":"list"}`, "list"},
		{"todo", `{"todos":[{},{}]}`, "plan 2 items"},
		{"todo", `{"todos":[{}],"merge":true}`, "update 1 item"},
		{"todo", `{}`, "read"},
		{"patch", `{"mode":"patch","patch":"*** Begin Patch\n*** Update File: a.go\n@@\n*** Add File: b\n*** End Patch"}`, "a.go, b"},
		{"web_extract", `{"urls":["http://a","http://b"]}`, "http://a (+1)"},
		{"web_extract", `{"urls":["http://a"]}`, "http://a"},
		{"mcp__x__y", `{"name":"n"}`, "n"},
		{"mcp__x__y", `{"zzz":"n"}`, ""},
		{"terminal", `{"command":"  "}`, ""},
		{"terminal", `broken`, ""},
		{"terminal", `[]`, ""},
		{"terminal", `{"command":"\ud800 x"}`, "\ufffd x"},
	} {
		if got := tools.Preview(hermes.ToolCall{Name: tt.name, Arguments: tt.arguments}); got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.name, tt.arguments, got, tt.want)
		}
	}
}
