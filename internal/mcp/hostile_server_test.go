package mcp_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// hostile is a server that is written by hand, so that it can do what no library would: fault, when
// a message of a method has come.
type hostile struct {
	fault, at string
	out       *bufio.Writer
	asked     int
	waiting   message // the call that is answered when the client has answered
	refusals  string
}

// message is a JSON-RPC message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Error  struct {
		Message string `json:"message"`
	} `json:"error"`
}

// serveHostile serves FAULT@METHOD until its input ends.
func serveHostile(what string) int {
	h := &hostile{out: bufio.NewWriter(os.Stdout)}
	h.fault, h.at, _ = strings.Cut(what, "@")
	if strings.HasPrefix(h.fault, "stubborn") {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if h.fault == "stubborn" {
				forever() // it does not end with its input
			}
			return 0
		}
		var m message
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		if m.Method == "" && h.fault == "reuses" {
			if h.refusals += m.Error.Message + "|"; strings.Count(h.refusals, "|") == 2 {
				h.send(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, h.waiting.ID, h.refusals)
				h.out.Flush()
			}
			continue
		}
		if m.Method == "" {
			if h.waiting.Method != "" {
				h.answer(h.waiting, string(h.waiting.ID))
				h.out.Flush()
			}
			continue
		}
		if m.Method == "server/discover" && h.fault == "inputs" {
			h.send(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{},"prompts":{}}}}`, m.ID)
			h.out.Flush()
			continue
		}
		if m.Method != h.at || !h.wrong(m) {
			h.answer(m, string(m.ID))
		}
		h.out.Flush()
	}
}

func (h *hostile) send(format string, values ...any) { fmt.Fprintf(h.out, format+"\n", values...) }

// results are the right answers.
var results = map[string]string{
	"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{},"prompts":{}},"serverInfo":{"name":"h","version":"1"}}`,
	"tools/list": `{"tools":[{"name":"add","description":"Adds.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},{"name":"write","description":"Writes.","inputSchema":{"type":"object"}}]}`,
	"tools/call": `{"content":[{"type":"text","text":"done"}]}`, "ping": `{}`,
	"resources/list": `{"resources":[{"uri":"x://a","name":"a"}]}`, "resources/templates/list": `{"resourceTemplates":[]}`,
	"resources/read": `{"contents":[{"uri":"x://a","text":"the text"}]}`,
	"prompts/list":   `{"prompts":[{"name":"p"}]}`, "prompts/get": `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}`,
}

func (h *hostile) answer(m message, id string) {
	switch r, ok := results[m.Method]; {
	case id == "": // a notification
	case ok:
		h.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, r)
	default:
		h.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no %s"}}`, id, m.Method)
	}
}

// nulls are answers with nothing where something should be.
var nulls = map[string]string{
	"initialize": `{"protocolVersion":"2025-11-25","capabilities":null,"serverInfo":null}`, "tools/list": `{"tools":[null,{"name":"add","inputSchema":null,"annotations":null}]}`,
	"tools/call": `{"content":[null],"structuredContent":null}`, "resources/list": `{"resources":[null]}`, "resources/templates/list": `{"resourceTemplates":[null]}`,
	"resources/read": `{"contents":[null]}`, "prompts/list": `{"prompts":[null,{"name":"p","arguments":[null]}]}`, "prompts/get": `{"messages":[null]}`,
}

// asks are requests and notifications that no client has to expect in this form.
var asks = []string{
	`"id":%q,"method":"elicitation/create"`, `"id":%q,"method":"elicitation/create","params":null`, `"id":%q,"method":"elicitation/create","params":{}`,
	`"id":%q,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"properties":{"a":null,"b":{"enum":[null,{}],"oneOf":[null,{"const":null}]},"c":{"type":7}}}}`,
	`"id":%q,"method":"elicitation/create","params":{"message":"m","requestedSchema":[]}`, `"id":%q,"method":"elicitation/create","params":{"mode":"url","url":"file:///etc/passwd","message":"m","elicitationId":"1"}`,
	`"id":%q,"method":"sampling/createMessage"`, `"id":%q,"method":"sampling/createMessage","params":{}`, `"id":%q,"method":"sampling/createMessage","params":{"messages":[null],"maxTokens":-1}`,
	`"id":%q,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":null}],"modelPreferences":{"hints":[null]}}`,
	`"id":%q,"method":"sampling/createMessage","params":{"messages":[{"role":"system","content":{"type":"text","text":"x"}}],"tools":[null]}`,
	`"id":%q,"method":"roots/list"`, `"id":%q,"method":"roots/list","params":null`, `"id":%q,"method":"ping"`, `"id":%q,"method":"tools/call","params":{}`, `"id":%q,"method":"no/such"`,
	`"method":"notifications/progress","params":{}`, `"method":"notifications/progress","params":null`, `"method":"notifications/message","params":{}`, `"method":"notifications/cancelled","params":{"requestId":1}`,
	`"method":"notifications/tools/list_changed"`, `"method":"notifications/elicitation/complete","params":{}`, `"method":"notifications/initialized"`, `"method":""`,
	`"id":null,"method":"ping"`, `"id":[1],"method":"ping"`, `"id":1.5,"result":{}`, `"id":null,"error":{"code":1,"message":"x"}`, `"id":77,"result":{},"error":{"code":1,"message":"x"}`,
}

// questions are forms that no client should follow.
var questions = []string{
	`{"message":"m","requestedSchema":{"type":"object","$ref":"#"}}`,
	`{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","$ref":"#"}}}}`,
	`{"message":"m","requestedSchema":{"type":"object","allOf":[{"$ref":"#"}]}}`,
	`{"message":"m","requestedSchema":{"type":"object","not":{"$dynamicRef":"#"}}}`,
	`{"message":"m","requestedSchema":{"type":"object","$defs":{"a":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}}`,
	`{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","default":{"a":[]}}}}}`,
	`{"message":"m","requestedSchema":{"type":"object","propertyNames":{"$ref":"#"},"properties":{"a":{"type":"boolean"}}}}`,
	`{"message":"m","requestedSchema":{"type":"object","required":[null,7],"properties":null}}`,
	`{"message":"m","requestedSchema":{"properties":{"a":{"type":"string","enum":[null,{}],"oneOf":[null,{"const":null}]}}}}`,
	`{"message":"m","requestedSchema":` + strings.Repeat(`{"allOf":[`, 100) + "{}" + strings.Repeat("]}", 100) + `}`,
	`{"message":null,"requestedSchema":7}`, `{"mode":"url","message":"m","url":"file:///etc/passwd","elicitationId":"1"}`, `{"mode":7}`, `{"mode":"form","url":"x"}`, `{}`, `null`, `[]`,
}

// wrong does what is wrong. It reports whether that takes the place of the answer.
func (h *hostile) wrong(m message) bool {
	id, right := string(m.ID), results[m.Method]
	if right == "" {
		right = "{}"
	}
	big := strings.Repeat("x", 1<<20)
	switch h.fault {
	case "die":
		os.Exit(9)
	case "hang":
		return true
	case "half": // of a line
		fmt.Fprintf(h.out, `{"jsonrpc":"2.0","id":%s,"result":{"a`, id)
		h.out.Flush()
		os.Exit(0)
	case "wrong-id":
		h.answer(m, "987654")
		h.answer(m, `"text"`)
		return true
	case "twice":
		h.answer(m, id)
		h.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"no"}}`, id)
	case "deep":
		h.send(`{"jsonrpc":"2.0","id":%s,"result":%s1%s}`, id, strings.Repeat("[", 9_000), strings.Repeat("]", 9_000))
		h.send(`{"jsonrpc":"2.0","id":%s,"result":%s1%s}`, id, strings.Repeat(`{"a":`, 1_000_000), strings.Repeat("}", 1_000_000))
		h.send(`{"jsonrpc":"2.0","id":%s,"result":{"x":%s1%s,%s}`, id, strings.Repeat("[", 9_000), strings.Repeat("]", 9_000), right[1:])
		return true
	case "bytes": // that are not UTF-8
		h.send("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"\xff\xfe\":\"\xc3\x28\",%s}", id, right[1:])
		return true
	case "nulls":
		r := nulls[m.Method]
		if r == "" {
			r = "null"
		}
		h.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, r)
		return true
	case "null", "array", "text":
		h.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, map[string]string{"null": "null", "array": "[]", "text": `"x"`}[h.fault])
		return true
	case "asks":
		for _, a := range asks {
			h.asked++
			if strings.Contains(a, "%q") {
				a = fmt.Sprintf(a, fmt.Sprint("q", h.asked))
			}
			h.send(`{"jsonrpc":"2.0",%s}`, a)
		}
	case "questions", "inputs": // another one at each call
		q := questions[h.asked%len(questions)]
		h.asked++
		if h.fault == "questions" {
			h.waiting = m
			h.send(`{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":%s}`, h.asked, q)
			return true
		}
		if bytes.Contains(m.Params, []byte(`"inputResponses"`)) {
			h.asked--
			return false
		}
		question := fmt.Sprintf(`{"method":"elicitation/create","params":%s}`, q)
		if q == "null" {
			question = "null"
		}
		h.send(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","inputRequests":{"a":%s}}}`, id, question)
		return true
	case "reuses": // the id of an open question, for what is refused
		for i := range 16 {
			h.send(`{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":{"message":"m"}}`, i)
		}
		h.send(`{"jsonrpc":"2.0","id":"q0","method":"roots/list","params":{"a":%s}}`, deeper)
		h.send(`{"jsonrpc":"2.0","id":"q16","method":"elicitation/create","params":{"message":"m"}}`)
		h.waiting = m
		return true
	case "insists": // asks again and again, and reads no answer
		for i := range 2000 {
			h.send(`{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":{"message":"%s"}}`, i, big)
		}
	case "pings":
		for i := range 200_000 {
			h.send(`{"jsonrpc":"2.0","id":"q%d","method":"ping"}`, i)
		}
	case "line": // 100 MB in one line
		fmt.Fprintf(h.out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, id)
		for range 100 {
			fmt.Fprint(h.out, big)
		}
		h.send(`"}]}}`)
		return true
	case "lines": // 100 MB in messages and in logs
		for i := range 100 {
			h.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%s"}}`, big)
			h.send(`{"jsonrpc":"2.0","id":"r%d","result":"%s"}`, i, big)
			h.send(`%s`, big)
		}
		for range 100 {
			fmt.Fprintln(os.Stderr, big)
		}
	case "floods":
		go func() {
			for {
				fmt.Fprintln(os.Stdout, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			}
		}()
	case "screams":
		go func() {
			for {
				fmt.Fprintln(os.Stderr, big)
			}
		}()
	case "closes-input":
		os.Stdin.Close()
		h.answer(m, id)
		h.out.Flush()
		time.Sleep(time.Hour)
	case "closes-output":
		os.Stdout.Close()
		time.Sleep(time.Hour)
	case "stubborn-children": // of which some have the streams, and one a session of its own
		for i := range 3 {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), serverKind+"=stubborn")
			if i > 0 {
				c.Stdout, c.Stderr = os.Stdout, os.Stderr
			}
			apart(c, i == 2)
			if err := c.Start(); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}
	return false
}
