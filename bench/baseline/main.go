// Command baseline is the baseline of the benchmarks: the smallest Go program that makes
// the same requests and starts the same processes as an agent. It stores nothing, checks
// nothing and asks for no approval; the difference to an agent is the agent's cost. Usage: baseline --version | baseline -z PROMPT, with OPENAI_BASE_URL set.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println("baseline 1")
		return
	}
	if len(os.Args) != 3 || os.Args[1] != "-z" {
		fmt.Fprintln(os.Stderr, "usage: baseline --version | baseline -z PROMPT")
		os.Exit(2)
	}
	text, err := run(os.Getenv("OPENAI_BASE_URL"), os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(text)
}

type message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	Calls      []call `json:"tool_calls,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type request struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Messages []message         `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
}

const terminal = `{"type":"function","function":{"name":"terminal","description":"Run a shell command.","parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}}`

// run works on the prompt until the model makes no more calls.
func run(baseURL, prompt string) (string, error) {
	r := request{
		Model:    "instant",
		Stream:   true,
		Messages: []message{{Role: "user", Content: prompt}},
		Tools:    []json.RawMessage{json.RawMessage(terminal)},
	}
	for {
		answer, err := ask(baseURL, r)
		if err != nil {
			return "", err
		}
		if len(answer.Calls) == 0 {
			return answer.Content, nil
		}
		r.Messages = append(append(r.Messages, answer), work(answer.Calls)...)
	}
}

// ask makes one request and joins the streamed pieces.
func ask(baseURL string, r request) (message, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return message{}, err
	}
	res, err := http.Post(baseURL+"/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return message{}, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		return message{}, fmt.Errorf("%s: %s", res.Status, text)
	}
	return collect(res.Body)
}

// piece is the part of an event that baseline reads.
type piece struct {
	Choices []struct {
		Delta struct {
			Content string
			Calls   []struct {
				Index    int
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
}

func collect(body io.Reader) (message, error) {
	answer := message{Role: "assistant"}
	var text strings.Builder
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		event, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok || string(event) == "[DONE]" {
			continue
		}
		var p piece
		if err := json.Unmarshal(event, &p); err != nil {
			return answer, err
		}
		for _, choice := range p.Choices {
			text.WriteString(choice.Delta.Content)
			for _, part := range choice.Delta.Calls {
				for len(answer.Calls) <= part.Index {
					answer.Calls = append(answer.Calls, call{Type: "function"})
				}
				c := &answer.Calls[part.Index]
				c.ID += part.ID
				c.Function.Name += part.Function.Name
				c.Function.Arguments += part.Function.Arguments
			}
		}
	}
	answer.Content = text.String()
	return answer, lines.Err()
}

// work runs the calls of one answer at once.
func work(calls []call) []message {
	results := make([]message, len(calls))
	var all sync.WaitGroup
	for i, c := range calls {
		all.Go(func() {
			var in struct{ Command string }
			text := []byte("the arguments are no JSON")
			if json.Unmarshal([]byte(c.Function.Arguments), &in) == nil {
				text, _ = exec.Command("sh", "-c", in.Command).CombinedOutput() // a non-zero status is not an error here
			}
			results[i] = message{Role: "tool", ToolCallID: c.ID, Content: string(text)}
		})
	}
	all.Wait()
	return results
}
