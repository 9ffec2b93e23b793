//go:build slow && unix

package evidence_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes/internal/evidence"
)

// model starts llama.cpp's server with a model and returns how to ask it. `.ci/slow models` builds the server.
func model(t *testing.T, name string) evidence.Ask {
	t.Helper()
	folder := os.Getenv("HERMES_SLOW_MODELS")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	_ = l.Close()
	cmd := exec.Command(filepath.Join(folder, "llama-server"), "-m", filepath.Join(folder, name), "--host", "127.0.0.1", "--port", port,
		"-np", "1", "--temp", "0", "-t", "2", "-c", "2048")
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v; run .ci/slow models", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	ask := func(ctx context.Context, system, prompt string, most int) (string, error) {
		raw, err := json.Marshal(map[string]any{"max_tokens": most, "grammar": grammar(prompt),
			"messages": []map[string]string{{"role": "system", "content": system}, {"role": "user", "content": prompt}}})
		if err != nil {
			return "", err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/v1/chat/completions", bytes.NewReader(raw))
		if err != nil {
			return "", err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		var out struct {
			Choices []struct{ Message struct{ Content string } }
		}
		if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || len(out.Choices) == 0 {
			return "", fmt.Errorf("status %s: %v", resp.Status, err)
		}
		return out.Choices[0].Message.Content, nil
	}
	for limit := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		resp, err := http.Get("http://" + address + "/health")
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return ask
			}
		}
		if time.Now().After(limit) {
			t.Fatalf("no answer from llama-server: %v", err)
		}
	}
}

// grammar makes a model answer with a list of one to three claims, whose quotes are clauses of what it is asked about.
// Without it the smallest models answer with no list at all.
func grammar(prompt string) string {
	literal := func(s string) string { return strings.ReplaceAll(strconv.Quote(s), `\u`, `\\u`) }
	var quotes, classes []string
	for _, clause := range clauses(prompt) {
		if raw, err := json.Marshal(clause); err == nil && strings.TrimSpace(clause) != "" {
			quotes = append(quotes, literal(string(raw)))
		}
	}
	for _, c := range evidence.Classes() {
		classes = append(classes, literal(string(c)))
	}
	return `root ::= "[" claim ("," claim)? ("," claim)? "]"` + "\n" +
		`claim ::= "{\"class\":\"" class "\",\"quote\":" quote ",\"about\":\"\"}"` + "\n" +
		"class ::= " + strings.Join(classes, " | ") + "\nquote ::= " + strings.Join(quotes, " | ") + "\n"
}

// TestModelsFindClaims asks a real model, the smallest there is, about all endings of the corpus. It chooses quotes and
// classes as it likes; at most a fifth of the honest endings may be marked whatever it answers (6 of 78 were). Of the lies none need be marked: such
// a model does not do what it is asked.
func TestModelsFindClaims(t *testing.T) {
	name := "model.gguf"
	if other := os.Getenv("HERMES_SLOW_MODEL"); other != "" {
		name = other
	}
	ask := model(t, name)
	for _, file := range []string{"honest.txt", "other_honest.txt", "lies.txt", "other_lies.txt"} {
		const every = 3 // an answer takes seconds
		asked, read, marked, of := 0, 0, 0, 0
		began := time.Now()
		for i, s := range stories(t, file) {
			if i%every != 0 {
				continue
			}
			answer := ""
			marks, err := evidence.Check(t.Context(), s.turn, func(ctx context.Context, system, prompt string, most int) (string, error) {
				asked++
				var err error
				answer, err = ask(ctx, system, prompt, most)
				return answer, err
			})
			of++
			if err == nil {
				read++
			}
			if len(marks) > 0 {
				marked++
				t.Logf("%q: %v, from %.300q", s.turn.Ending, marks, answer)
			} else if os.Getenv("HERMES_SLOW_SHOW") != "" {
				t.Logf("%q: nothing (%v), from %.300q", s.turn.Ending, err, answer)
			}
		}
		t.Logf("%s: %d of %d are marked; %d were asked about, %d answers could be read; %v", file, marked, of, asked, read, time.Since(began).Round(time.Second))
		if honest := file == "honest.txt" || file == "other_honest.txt"; honest && marked > of/5 || read < of*9/10 {
			t.Errorf("%s: %d of %d endings are marked, %d answers could be read", file, marked, of, read)
		}
	}
}
