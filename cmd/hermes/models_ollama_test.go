//go:build slow && unix

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ollama starts a server with two models: plain, whose template has no tools, and tools.
func ollama(t *testing.T) string {
	t.Helper()
	program, dir, address := counterpart(t, "ollama"), t.TempDir(), "127.0.0.1:"+port(t)
	env := []string{"HOME=" + dir, "OLLAMA_HOST=" + address, "OLLAMA_MODELS=" + filepath.Join(dir, "models"), "OLLAMA_CONTEXT_LENGTH=8192"}
	launch(t, env, program, "serve")
	await(t, "http://"+address+"/api/version")
	const template = "TEMPLATE \"\"\"{{ if .Tools }}<|im_start|>system\nTools: {{ .Tools }}<|im_end|>\n{{ end }}" +
		"{{ range .Messages }}<|im_start|>{{ .Role }}\n{{ .Content }}<|im_end|>\n{{ end }}<|im_start|>assistant\n\"\"\"\n"
	for name, more := range map[string]string{"plain": "", "tools": template} {
		file := filepath.Join(dir, name)
		text := fmt.Sprintf("FROM %s\nPARAMETER num_predict 32\nPARAMETER temperature 0\n%s", counterpart(t, "model.gguf"), more)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "create", name, "-f", file)
		cmd.Env = append(os.Environ(), env...)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("create %s: %v\n%s", name, err, said)
		}
	}
	return "http://" + address
}

func TestModelsOllama(t *testing.T) {
	address := ollama(t)
	h := newHome(t, address+"/v1", "k")
	h.write(t, fmt.Sprintf(limited+"providers:\n"+
		"  native: {base_url: %q, api_mode: ollama_chat}\n  chat: {base_url: %q}\n  messages: {base_url: %q, api_mode: anthropic_messages}\n",
		address, address+"/v1", address))
	for _, name := range []string{"native", "chat", "messages"} {
		t.Run(name, func(t *testing.T) { h.talks(t, name+":tools") })
		t.Run(name+" without tools", func(t *testing.T) {
			r := h.say(t, name+":plain", "Say hello.")
			if r.status != 0 || strings.TrimSpace(r.out) == "" {
				t.Errorf("status %d: it must go on without tools", r.status)
			}
		})
	}
	refused(t, h.say(t, "chat:nosuch", "Say hello."), "", "nosuch", "hermes model list")
}
