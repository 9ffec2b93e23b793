package plugin_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// programKind is the variable that makes this test program a plugin.
const programKind = "PLUGIN_TEST_KIND"

func TestMain(m *testing.M) {
	if kind := os.Getenv(programKind); kind != "" {
		os.Exit((&program{kind: kind}).serve())
	}
	os.Exit(m.Run())
}

// program is a plugin on the standard streams, written without any help.
type program struct {
	kind    string
	write   sync.Mutex
	serial  int
	waiting sync.Map // of the ids of its requests to channels
	memory  memory
	inputs  sync.Map // of scripts, by their calls
}

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

func (p *program) send(m map[string]any) {
	m["jsonrpc"] = "2.0"
	data, _ := json.Marshal(m) // maps of plain values
	p.write.Lock()
	defer p.write.Unlock()
	os.Stdout.Write(append(data, '\n'))
}

// request asks Hermes.
func (p *program) request(method string, params any) message {
	p.write.Lock()
	p.serial++
	id := fmt.Sprintf("p%d", p.serial)
	p.write.Unlock()
	answer := make(chan message, 1)
	p.waiting.Store(`"`+id+`"`, answer)
	p.send(map[string]any{"id": id, "method": method, "params": params})
	return <-answer
}

func (p *program) serve() int {
	switch p.kind {
	case "mute":
		time.Sleep(time.Hour) // to wait for nothing would end it
	case "exit":
		fmt.Fprintln(os.Stderr, "no licence key was found")
		return 3
	case "huge":
		fmt.Print(`{"jsonrpc":"2.0","id":"1","result":{"x":"`)
		for range 100 {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<20)); err != nil {
				return 0
			}
		}
		fmt.Println(`"}}`)
		time.Sleep(time.Hour)
	case "noisy":
		fmt.Println("starting up ...")
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m message
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		if m.Method == "" {
			if answer, ok := p.waiting.LoadAndDelete(string(m.ID)); ok {
				answer.(chan message) <- m
			}
			continue
		}
		if m.Method == "shutdown" && p.kind != "stays" {
			p.send(map[string]any{"id": m.ID, "result": map[string]any{}})
			return 0
		}
		go p.handle(m)
	}
}

func (p *program) handle(m message) {
	var result any
	switch m.Method {
	case "initialize":
		result = map[string]any{"protocol": 1, "name": "test", "version": "1"}
	case "tools/list":
		result = map[string]any{"tools": p.tools()}
	case "hooks/list":
		result = map[string]any{"hooks": []any{
			map[string]any{"event": "pre_tool_call", "tools": "terminal|write_.*", "guard": true, "timeout": 5},
			map[string]any{"event": "transform_tool_result", "tools": "read_file"},
			map[string]any{"event": "pre_llm_call"},
		}}
	case "prompt/sections":
		result = map[string]any{"sections": []any{map[string]any{"name": "style", "text": "Use the tool add for sums."}}}
	case "tools/call":
		result = p.call(m)
	case "hooks/call":
		result = p.hook(m)
	case "$/cancel":
		if p.cancelled(m) {
			return
		}
		if f := os.Getenv("PLUGIN_TEST_FILE"); f != "" {
			_ = os.WriteFile(f, []byte("cancelled"), 0o600)
		}
		return
	default:
		if p.executes(m) {
			return
		}
		if p.streams(m) {
			return
		}
		if r, known := p.fits(m); known {
			result = r
			break
		}
		if r, known := p.commands(m); known {
			result = r
			break
		}
		if r, known := p.remember(m); known {
			result = r
			break
		}
		p.send(map[string]any{"id": m.ID, "error": map[string]any{"code": -32601, "message": "no such method"}})
		return
	}
	if result == nil {
		p.send(map[string]any{"id": m.ID, "error": map[string]any{"code": 1, "message": "the disk of the plugin is full"}})
		return
	}
	p.send(map[string]any{"id": m.ID, "result": result})
}

func (p *program) tools() []any {
	object := map[string]any{"type": "object", "properties": map[string]any{}}
	tool := func(name, effect string) map[string]any {
		return map[string]any{"name": name, "description": "Does " + name + ".", "schema": object, "effect": effect, "parallel": true}
	}
	list := []any{
		map[string]any{"name": "add", "description": "Adds two numbers.", "effect": "none", "parallel": true, "schema": map[string]any{
			"type": "object", "required": []string{"a", "b"}, "properties": map[string]any{"a": map[string]any{"type": "integer"}, "b": map[string]any{"type": "integer"}},
		}},
		tool("change", ""), tool("environment", "none"), tool("fails", ""), tool("slow", ""), tool("dies", ""), tool("dies_once", "none"), tool("flood", ""),
		tool("invoke", ""), tool("question", ""), tool("model", ""), tool("forged", ""), tool("late_request", ""), tool("child", ""),
	}
	switch p.kind {
	case "shadow":
		list = append(list, tool("read_file", ""))
	case "grown":
		list = append(list, tool("extra", ""))
	}
	return list
}

func (p *program) call(m message) any {
	var in struct {
		Call, Name string
		Arguments  json.RawMessage
	}
	_ = json.Unmarshal(m.Params, &in) // Hermes sends what it says
	text := func(s string) any { return map[string]any{"text": s} }
	asked := func(a message) any {
		if a.Error != nil {
			return text("refused: " + a.Error.Message)
		}
		return text(string(a.Result))
	}
	switch in.Name {
	case "add":
		var n struct{ A, B int }
		_ = json.Unmarshal(in.Arguments, &n)
		return text(fmt.Sprint(n.A + n.B))
	case "change":
		return text("changed")
	case "environment":
		return text(strings.Join(os.Environ(), "\n"))
	case "slow":
		p.send(map[string]any{"method": "$/progress", "params": map[string]any{"call": in.Call, "text": "half\x1b[2Jway"}})
		select {}
	case "dies":
		os.Exit(9)
	case "dies_once":
		if _, err := os.Stat(os.Getenv("PLUGIN_TEST_FILE")); err != nil {
			_ = os.WriteFile(os.Getenv("PLUGIN_TEST_FILE"), nil, 0o600)
			os.Exit(9)
		}
		return text("lives")
	case "flood":
		var a struct{ Of string }
		_ = json.Unmarshal(in.Arguments, &a)
		for range 1_000_000 {
			switch a.Of {
			case "responses":
				p.send(map[string]any{"id": "none", "result": 1})
			case "errors":
				fmt.Fprintln(os.Stderr, strings.Repeat("x", 100_000))
			case "invalid":
				p.send(map[string]any{"id": []int{1}, "method": "x"})
			default:
				p.send(map[string]any{"method": "$/progress", "params": map[string]any{"call": in.Call, "text": "flood"}})
			}
		}
	case "invoke":
		return asked(p.request("host/invoke", map[string]any{"call": in.Call, "name": "read_file", "arguments": in.Arguments}))
	case "forged":
		var a struct{ Method, Name string }
		_ = json.Unmarshal(in.Arguments, &a)
		return asked(p.request(a.Method, map[string]any{"call": in.Call, "name": a.Name, "arguments": map[string]any{}, "prompt": "x", "text": "x"}))
	case "question":
		return asked(p.request("host/ask", map[string]any{"call": in.Call, "text": "Which\u202e one?", "choices": []string{"a", "b"}}))
	case "model":
		return asked(p.request("host/complete", map[string]any{"call": in.Call, "prompt": "Say hi.", "max_tokens": 100000}))
	case "late_request":
		go func() {
			time.Sleep(50 * time.Millisecond) // after the answer was read; later is fine, too
			a := p.request("host/invoke", map[string]any{"call": in.Call, "name": "read_file", "arguments": map[string]any{}})
			if a.Error != nil {
				_ = os.WriteFile(os.Getenv("PLUGIN_TEST_FILE"), []byte(a.Error.Message), 0o600)
			}
		}()
		return text("later")
	case "child":
		return text(startChild())
	}
	return nil
}

func (p *program) hook(m message) any {
	var in struct {
		Event string
		Text  string
		Tool  struct {
			Name      string
			Arguments json.RawMessage
		}
		Result struct{ Text string }
	}
	_ = json.Unmarshal(m.Params, &in)
	args := string(in.Tool.Arguments)
	switch {
	case p.kind == "lost-guard":
		os.Exit(4)
	case in.Event == "pre_llm_call":
		return map[string]any{"context": "The weather is fine, " + in.Text}
	case in.Event == "transform_tool_result":
		return map[string]any{"action": "modify", "text": strings.ToUpper(in.Result.Text)}
	case strings.Contains(args, "forbidden"):
		return map[string]any{"action": "block", "message": "that word is forbidden"}
	case strings.Contains(args, "careful"):
		return map[string]any{"action": "approve", "message": "careful was said"}
	case strings.Contains(args, "typo"):
		return map[string]any{"action": "modify", "arguments": json.RawMessage(strings.ReplaceAll(args, "typo", "type"))}
	case strings.Contains(args, "odd"):
		return map[string]any{"action": "perhaps"}
	}
	return map[string]any{}
}
