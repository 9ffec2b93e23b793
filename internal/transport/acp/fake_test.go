package acp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest/modelsuite"
)

// TestMain is the tests or, as a child of theirs, a program that speaks the
// protocol.
func TestMain(m *testing.M) {
	if script := os.Getenv("FAKE_AGENT"); script != "" {
		agent(script)
		return
	}
	os.Exit(m.Run())
}

// agent reads requests until its input ends. The script says what it does with the
// prompt; it writes what it received to the file FAKE_LOG.
func agent(script string) {
	log, err := os.OpenFile(os.Getenv("FAKE_LOG"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(log, "pid %d\n", os.Getpid())
	lines := bufio.NewReader(os.Stdin)
	next := func() (id json.RawMessage, method, line string) {
		line, err := lines.ReadString('\n')
		if err != nil {
			os.Exit(0)
		}
		fmt.Fprint(log, line)
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.Unmarshal([]byte(line), &m)
		return m.ID, m.Method, line
	}
	say := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	update := func(body string) {
		say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":%s}}`, body)
	}
	chunk := func(text string) {
		update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + fmt.Sprintf("%q", text) + `}}`)
	}
	for {
		id, method, _ := next()
		switch method {
		case "initialize":
			switch script {
			case "ends":
				fmt.Fprintln(os.Stderr, "warming up\nno licence found")
				os.Exit(3)
			case "version":
				say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":2}}`, id)
			case "silent":
				_, _ = io.Copy(io.Discard, lines)
			case "images":
				say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentCapabilities":{"promptCapabilities":{"image":true}}}}`, id)
			default:
				say(`a line of a log`)
				say(`{"level":"info"}`)
				say(`{"jsonrpc":"2.0","id":"%s","result":{"protocolVersion":1,"agentCapabilities":{"promptCapabilities":{}},"authMethods":[]}}`, id)
			}
		case "session/new":
			if script == "login" {
				say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"Authentication required","data":{"details":"run login"}}}`, id)
				continue
			}
			update(`{"sessionUpdate":"available_commands_update","availableCommands":[]}`)
			switch script {
			case "images":
				say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s1"}}`, id)
				continue
			case "options":
				say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s1","configOptions":[{"id":"y","type":"boolean","currentValue":true},`+
					`{"id":"o","category":"mode","options":[{"value":"on"}]},{"id":"m","category":"model","type":"select","currentValue":"big",`+
					`"options":[{"value":"big"},{"value":"small"},{"group":"g","options":[{"value":"tiny"}]}]}]}}`, id)
				continue
			}
			say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s1","models":{"currentModelId":"a","availableModels":[{"modelId":"a"},{"modelId":"b"}]}}}`, id)
			switch script {
			case "talks first":
				for range 1000 {
					update(`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"` + strings.Repeat("x", 2000) + `"}]}`)
				}
			case "never listens":
				for i := range 20000 {
					say(`{"jsonrpc":"2.0","id":"r%d","method":"fs/read_text_file","params":{"sessionId":"s1","path":"/etc/passwd"}}`, i)
				}
				time.Sleep(time.Hour)
			}
		case "session/set_model", "session/set_config_option":
			say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
		case "session/prompt":
			end := `"stopReason":"end_turn"`
			switch script {
			case "tools":
				update(`{"sessionUpdate":"tool_call","toolCallId":"t","title":"rm -rf\n/","kind":"execute","content":[{"type":"content"}]}`)
				say(`{"jsonrpc":"2.0","id":"p1","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"t","title":"rm -rf /"},"options":[` +
					`{"optionId":"yes","kind":"allow_once"},{"optionId":"always","kind":"allow_always"},{"optionId":"never","kind":"reject_always"},{"optionId":"no","kind":"reject_once"}]}}`)
				next()
				say(`{"jsonrpc":"2.0","id":"p2","method":"session/request_permission","params":{"sessionId":"s1","options":[{"optionId":"yes","kind":"allow_once"},{"optionId":"never","kind":"reject_always"}]}}`)
				next()
				say(`{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/etc/passwd"}}`)
				next()
				say(`{"jsonrpc":"2.0","id":8,"method":"terminal/create","params":{"sessionId":"s1","command":"id"}}`)
				next()
				chunk("Done without.")
			case "waits":
				chunk("begun")
				for method != "session/cancel" {
					_, method, _ = next()
				}
				say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"cancelled"}}`, id)
				continue
			case "stubborn":
				signal.Ignore(os.Interrupt)
				chunk("begun")
				time.Sleep(time.Hour)
			case "dies":
				chunk("half an ans")
				fmt.Fprintln(os.Stderr, "out of memory")
				os.Exit(1)
			case "limit":
				say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"Internal error","data":{"details":"rate limit exceeded, try again later"}}}`, id)
				continue
			case "huge":
				say(`{"jsonrpc":"2.0","method":"session/update","params":%q}`, strings.Repeat("x", 9<<20))
			case "cut":
				chunk("part")
				end = `"stopReason":"max_tokens"`
			case "counts":
				chunk("fine")
				end += `,"usage":` + os.Getenv("FAKE_USAGE")
			case "suite":
				var a modelsuite.Answer
				if err := json.Unmarshal([]byte(os.Getenv("FAKE_ANSWER")), &a); err != nil {
					panic(err)
				}
				for _, piece := range a.Thinking {
					text, _ := json.Marshal(piece)
					update(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":` + string(text) + `}}`)
				}
				for _, piece := range a.Text {
					text, _ := json.Marshal(piece)
					update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + string(text) + `}}`)
				}
				stop := map[hermes.Finish]string{hermes.FinishStop: "end_turn", hermes.FinishLength: "max_tokens", hermes.FinishFilter: "refusal"}[a.Finish]
				end = fmt.Sprintf(`"stopReason":%q,"usage":{"inputTokens":%d,"outputTokens":%d,"thoughtTokens":%d,"cachedReadTokens":%d}`,
					stop, a.Usage.Input, a.Usage.Output-a.Usage.Reasoning, a.Usage.Reasoning, a.Usage.CacheRead)
			case "refuses":
				end = `"stopReason":"refusal"`
			default:
				update(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"Hm. "}}`)
				say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"not mine"}}}}`)
				update(`{"sessionUpdate":"plan","entries":[]}`)
				chunk("Hello ")
				chunk("there.")
				end += `,"usage":{"totalTokens":19,"inputTokens":10,"outputTokens":4,"thoughtTokens":2,"cachedReadTokens":3}`
			}
			say(`{"jsonrpc":"2.0","id":%s,"result":{%s}}`, id, end)
		}
	}
}
