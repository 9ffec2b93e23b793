package terminal_test

import (
	"testing"

	"hermes"
	"hermes/internal/tool/terminal"
)

// TestProcessesOfAnEarlierRunAreReportedOnce: the model still takes them for
// running, until News reports or the transcript shows their end.
func TestProcessesOfAnEarlierRunAreReportedOnce(t *testing.T) {
	t.Parallel()
	begun := func(call, id, command string) []hermes.Message {
		return []hermes.Message{
			{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: call, Name: "terminal", Arguments: `{"command":"` + command + `","background":true}`}}},
			{Role: hermes.RoleTool, CallID: call, ToolName: "terminal", Parts: hermes.UserText(`{"session_id":"` + id + `","pid":7,"status":"running"}`).Parts},
		}
	}
	polled := func(id, status string) hermes.Message {
		return hermes.Message{Role: hermes.RoleTool, CallID: "p", ToolName: "process", Parts: hermes.UserText(`{"session_id":"` + id + `","status":"` + status + `"}`).Parts}
	}
	lost := "no longer running, because the program that started them has ended: proc_1 (serve; exit 3)"
	for name, tt := range map[string]struct {
		after []hermes.Message
		want  string
	}{
		"left running":        {[]hermes.Message{polled("proc_1", "running"), hermes.UserText("running in the background: proc_1 (serve; exit 3)")}, lost},
		"seen to end":         {[]hermes.Message{polled("proc_1", "exited")}, ""},
		"reported its end":    {[]hermes.Message{hermes.UserText("ended in the background: proc_1 (serve; exit 3, exit code 0)")}, ""},
		"another ended":       {[]hermes.Message{hermes.UserText("ended in the background: proc_2 (x, exit code 0); running in the background: proc_1 (serve; exit 3)")}, lost},
		"reported earlier":    {[]hermes.Message{hermes.UserText(lost)}, ""},
		"reported by 0.1.0":   {[]hermes.Message{hermes.UserText("no longer running, since the program that had begun them ended: proc_1 (serve; exit 3)")}, ""},
		"the foreground only": {[]hermes.Message{hermes.UserText("nothing runs in the background any more")}, ""},
	} {
		set := terminal.New(terminal.Config{})
		set.Restore(hermes.SessionRef{ID: "s"}, append(begun("c1", "proc_1", "serve; exit 3"), tt.after...))
		if got := set.News("s"); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
		if got := set.News("s"); got != "" {
			t.Errorf("%s: reported twice: %q", name, got)
		}
	}
}
