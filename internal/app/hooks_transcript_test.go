package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/sandbox"
)

// readerSettings have a hook in the form of Claude Code that copies what it finds in the file of the conversation.
const readerSettings = `
hooks:
  Stop:
    - hooks: [{type: command, command: "sh ./copy.sh"}]
`

const readerScript = `path=$(sed 's/.*"transcript_path":"\([^"]*\)".*/\1/')
cat "$path" > seen.jsonl
ls -ln "$path" | cut -c1-10 > mode.txt
printf %s "$path" > path.txt
if echo x >> "$path"; then echo changed > changed.txt; fi`

// transcriptLine is what tests look at in a line.
type transcriptLine struct {
	Type        string  `json:"type"`
	UUID        string  `json:"uuid"`
	ParentUUID  *string `json:"parentUuid"`
	IsSidechain bool    `json:"isSidechain"`
	SessionID   string  `json:"sessionId"`
	Cwd         string  `json:"cwd"`
	Version     string  `json:"version"`
	Timestamp   string  `json:"timestamp"`
	Message     struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Usage   map[string]any  `json:"usage"`
		Model   string          `json:"model"`
	} `json:"message"`
}

type transcriptBlock struct {
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Input     map[string]any `json:"input"`
	ToolUseID string         `json:"tool_use_id"`
}

// seen reads what the hook of a scene has copied.
func seen(s *scene) (lines []transcriptLine) {
	s.t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.dir, "seen.jsonl"))
	if err != nil {
		s.t.Fatalf("the hook read nothing: %v; warned %q", err, s.warned)
	}
	for text := range strings.Lines(string(raw)) {
		var line transcriptLine
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			s.t.Fatalf("%v in %s", err, text)
		}
		lines = append(lines, line)
	}
	return lines
}

func blocks(t *testing.T, line transcriptLine) (list []transcriptBlock) {
	t.Helper()
	if err := json.Unmarshal(line.Message.Content, &list); err != nil {
		t.Fatalf("%v in %s", err, line.Message.Content)
	}
	return list
}

// TestScriptsOfClaudeCodeReadTheConversation in a file that only the user can read, without walls and behind those of each
// layer. It has the last answer when the turn ends, and goes with the session.
func TestScriptsOfClaudeCodeReadTheConversation(t *testing.T) {
	t.Parallel()
	for _, layer := range []sandbox.Layer{sandbox.None, sandbox.B, sandbox.A} {
		t.Run(layer.String(), func(t *testing.T) {
			t.Parallel()
			s := hooked(t, hermes.AllowOnce, readerSettings)
			s.write("copy.sh", readerScript)
			if layer > sandbox.None {
				inWalls(t, s, layer)
			}
			const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
			s.say("the first words, with "+secret, `CALL write_file {"path":"a.txt","content":"one"}`)
			lines := seen(s)
			raw, _ := os.ReadFile(filepath.Join(s.dir, "seen.jsonl"))
			if len(lines) != 4 || strings.Contains(string(raw), secret) {
				t.Fatalf("read %s", raw)
			}
			var first string
			if err := json.Unmarshal(lines[0].Message.Content, &first); err != nil || lines[0].Type != "user" || !strings.HasPrefix(first, "the first words, with ") {
				t.Errorf("first %q, %v", first, err)
			}
			use, result, last := blocks(t, lines[1]), blocks(t, lines[2]), blocks(t, lines[3])
			if path, _ := use[0].Input["file_path"].(string); lines[1].Type != "assistant" || use[0].Type != "tool_use" || use[0].Name != "Write" || path != filepath.Join(lines[1].Cwd, "a.txt") {
				t.Errorf("the call is %+v", lines[1])
			}
			if lines[2].Type != "user" || result[0].Type != "tool_result" || result[0].ToolUseID != use[0].ID {
				t.Errorf("the result is %+v", lines[2])
			}
			if lines[3].Type != "assistant" || last[0].Text != "I have read: " || lines[3].Message.Model == "" || lines[3].Message.Usage["output_tokens"] == nil {
				t.Errorf("the answer is %+v", lines[3])
			}
			for i, line := range lines {
				if line.SessionID != s.session || line.Version == "" || line.Timestamp == "" || i > 0 && (line.ParentUUID == nil || *line.ParentUUID != lines[i-1].UUID) {
					t.Errorf("line %d: %+v", i, line)
				}
			}
			path, _ := os.ReadFile(filepath.Join(s.dir, "path.txt"))
			mode, _ := os.ReadFile(filepath.Join(s.dir, "mode.txt"))
			if filepath.Base(string(path)) != s.session+".jsonl" || string(mode) != "-rw-------\n" {
				t.Errorf("the file is %s with %s", path, mode)
			}
			if _, err := os.Stat(filepath.Join(s.dir, "changed.txt")); err == nil && layer > sandbox.None {
				t.Error("a hook in walls changed the file")
			}
			s.say("and more") // the file is as it should be, also after a hook has written into it
			if again := seen(s); len(again) != 6 || again[3].UUID != lines[3].UUID || again[5].Type != "assistant" {
				t.Errorf("then read %+v", again)
			}
			if err := s.live.Do(t.Context(), hermes.From{}, hermes.Undo{}); err != nil {
				t.Fatal(err)
			}
			s.say("something else")
			if again := seen(s); len(again) != 6 || again[4].UUID == lines[3].UUID || !strings.Contains(string(again[4].Message.Content), "something else") {
				t.Errorf("after an undo read %+v", again)
			}
			s.quit()
			if _, err := os.Stat(filepath.Dir(string(path))); err == nil {
				t.Error("the file is left behind")
			}
		})
	}
}

// TestWithoutHooksOfClaudeCodeThereIsNoFileOfTheConversation.
func TestWithoutHooksOfClaudeCodeThereIsNoFileOfTheConversation(t *testing.T) {
	t.Parallel()
	s := hooked(t, hermes.AllowOnce, "hooks:\n  post_llm_call: [{command: 'true'}]\n  PreToolUse: [{matcher: Read, hooks: [{command: 'true'}]}]\n")
	s.say("hello")
	if list, err := os.ReadDir(filepath.Join(s.home, "hook-transcripts")); err == nil {
		for _, e := range list {
			if files, _ := os.ReadDir(filepath.Join(s.home, "hook-transcripts", e.Name())); len(files) > 0 {
				t.Errorf("there is %s", files[0].Name())
			}
		}
	}
}
