package bundled_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
)

// brv is a program that prints what byterover-cli 3.14 prints. It keeps what it is given.
const brv = `#!/bin/sh
echo "$PWD|$*" >>"$HOME/asked"
case "$1" in
curate)
	case "$*" in *--detach*) printf '%s\n' "$2" | head -1 | cut -c7- >>"$HOME/kept"; echo '{"command":"curate","data":{"message":"Context queued for processing","status":"queued","taskId":"t"},"success":true,"timestamp":"x"}';;
	*) echo "Context curated successfully";; esac ;;
search)
	case "$2" in fail*) echo '{"command":"search","data":{"error":"no daemon","status":"error"},"success":false}'; exit 0;; esac
	results=; [ -f "$HOME/kept" ] && while IFS= read -r line; do for w in $2; do w=$(printf %s "$w" | tr -d '?.,'); [ ${#w} -gt 4 ] && case "$line" in *"$w"*) results="$results${results:+,}{\"path\":\"a/b.md\",\"title\":\"A note\",\"excerpt\":\"$line\",\"score\":0.9}"; break;; esac; done; done <"$HOME/kept"
	echo '{"command":"search","data":{"results":['"$results"'],"status":"completed","totalFound":1},"success":true}' ;;
query) echo "Tokens expire after 24 hours." ;;
status) printf '\033[32mCLI Version: 3.14.0\033[0m\n' ;;
*) echo "what?" >&2; exit 2 ;;
esac
`

// newBrv writes the program, and returns its path.
func newBrv(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program of the test is a script")
	}
	path := filepath.Join(t.TempDir(), "brv")
	if err := os.WriteFile(path, []byte(brv), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestByteRoverIsAMemoryLikeOthers(t *testing.T) {
	t.Parallel()
	program := newBrv(t)
	hermestest.RunMemory(t, func(t *testing.T) hermes.MemoryProvider {
		return memory{start(t, "byterover", map[string]string{"PATH": os.Getenv("PATH")}, "program="+program)}
	})
}

func TestByteRoverIsAToolsetLikeOthers(t *testing.T) {
	t.Parallel()
	p := install(t, "byterover", "", nil, "program="+newBrv(t))
	hermestest.RunToolset(t, func(*testing.T) hermes.Toolset { return p.toolset() },
		hermestest.ToolSample{Tool: "brv_query", Arguments: `{"query":"When do tokens expire?"}`, Want: "24 hours"},
		hermestest.ToolSample{Tool: "brv_curate", Arguments: `{"content":"Tokens expire after 24 hours."}`, Want: "curated"},
		hermestest.ToolSample{Tool: "brv_status", Arguments: `{}`, Want: "CLI Version: 3.14.0"},
	)
}

// TestByteRoverRunsInItsFolder with words that cannot be flags, and says what went wrong.
func TestByteRoverRunsInItsFolder(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	m := memory{start(t, "byterover", map[string]string{"PATH": os.Getenv("PATH"), "HOME": home}, "program="+newBrv(t))}
	if err := m.Observe(t.Context(), hermes.MemoryTurn{Said: "The staging server is called heron.", Answer: "Noted."}); err != nil {
		t.Fatal(err)
	}
	if err := m.Observe(t.Context(), hermes.MemoryTurn{Said: "yes"}); err != nil { // not worth a model
		t.Fatal(err)
	}
	if _, err := m.Recall(t.Context(), hermes.RecallQuery{Text: "--scope x"}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(home, "asked"))
	dir := filepath.Join(home, "byterover")
	if want := dir + "|curate User: The staging server is called heron.\nAssistant: Noted. --detach --format json\n" + dir + "|search  --scope x --limit 8 --format json\n"; err != nil || string(data) != want {
		t.Errorf("asked %q, want %q, %v", data, want, err)
	}
	if _, err := m.Recall(t.Context(), hermes.RecallQuery{Text: "fail now"}); err == nil || !strings.Contains(err.Error(), "no daemon") {
		t.Error(err)
	}
	none := memory{start(t, "byterover", map[string]string{}, "program="+filepath.Join(home, "brv-that-is-not-there"))}
	if _, err := none.Recall(t.Context(), hermes.RecallQuery{Text: "anything"}); err == nil || !strings.Contains(err.Error(), "npm install -g byterover-cli") {
		t.Error(err)
	}
}
