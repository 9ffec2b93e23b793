package toolbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/toolbox"
)

// terminal is a tool whose commands are judged by the words in them.
func terminal(ran *int) hermes.Tool {
	return risky{
		tool: tool{spec: hermes.Spec{Name: "terminal"}, run: func(context.Context, *hermes.Call) (hermes.Result, error) {
			*ran++
			return hermes.Result{Text: `{"output":""}`}, nil
		}},
		assess: func(c *hermes.Call) []hermes.Risk {
			var found []hermes.Risk
			for word, r := range map[string]hermes.Risk{
				"rm -r": {Key: "recursive delete", Reason: "deletes folders"},
				"chmod": {Key: "chmod", Reason: "opens files to everybody"},
				"mkfs":  {Key: "mkfs", Reason: "formats a disk", Deny: true},
			} {
				if strings.Contains(string(c.Arguments), word) {
					found = append(found, r)
				}
			}
			return found
		},
	}
}

func command(line string, h hermes.Host) *hermes.Call {
	arguments, _ := json.Marshal(map[string]string{"command": line})
	return &hermes.Call{ID: "c1", Name: "terminal", Arguments: arguments, Host: h}
}

func TestRefusalsHaveOneShape(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		mode    toolbox.Mode
		deny    []string
		line    string
		host    hermes.Host
		outcome string
		says    []string
	}{
		{name: "denied", line: "rm -r x", host: &host{answers: []hermes.Decision{hermes.Deny}}, outcome: "denied",
			says: []string{"BLOCKED", "did NOT consent", "not retry", "rephrase", "different command"}},
		{name: "no answer", line: "rm -r x", host: &host{answers: []hermes.Decision{hermes.TimedOut}}, outcome: "timeout",
			says: []string{"BLOCKED", "did NOT consent", "counts as a refusal", "not retry", "rephrase", "different command"}},
		{name: "strange answer", line: "rm -r x", host: &host{answers: []hermes.Decision{"sure"}}, outcome: "denied", says: []string{"BLOCKED"}},
		{name: "no user to ask", line: "rm -r x", host: nil, outcome: "denied", says: []string{"BLOCKED"}},
		{name: "asking failed", line: "rm -r x", host: &host{fail: errors.New("pipe broke")}, outcome: "denied", says: []string{"BLOCKED"}},
		{name: "smart asks too", mode: toolbox.ModeSmart, line: "rm -r x", host: &host{}, outcome: "denied", says: []string{"BLOCKED"}},
		{name: "denied in off mode", mode: toolbox.ModeOff, line: "mkfs /dev/sda", host: &host{answers: []hermes.Decision{hermes.AllowAlways}}, outcome: "forbidden",
			says: []string{"BLOCKED", "never run", "by hand"}},
		{name: "deny rule in off mode", mode: toolbox.ModeOff, deny: []string{"git push *"}, line: "cd x && sudo git push origin", host: &host{}, outcome: "forbidden",
			says: []string{"BLOCKED"}},
	} {
		ran := 0
		tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Mode: tt.mode, Deny: tt.deny}}, terminal(&ran))
		r := tools.Run(t.Context(), command(tt.line, tt.host))
		got := fields(t, r)
		if ran != 0 || !r.Failed {
			t.Errorf("%s: ran %d times, failed %v", tt.name, ran, r.Failed)
		}
		if got["approved"] != false || got["user_consent"] != false || got["outcome"] != tt.outcome {
			t.Errorf("%s: got %v", tt.name, got)
		}
		for _, words := range tt.says {
			if message, _ := got["message"].(string); !strings.Contains(message, words) {
				t.Errorf("%s: the message lacks %q: %s", tt.name, words, message)
			}
		}
	}
}

func TestDecisionHoldsAsLongAsItSays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		answer  hermes.Decision
		asks    int // of three calls: two with one pattern, one with another
		kept    []string
		allowed []string
	}{
		{answer: hermes.AllowOnce, asks: 3},
		{answer: hermes.AllowSession, asks: 2},
		{answer: hermes.AllowAlways, asks: 2, kept: []string{"recursive delete", "chmod"}},
		{answer: hermes.AllowOnce, asks: 1, allowed: []string{"recursive delete"}},
	} {
		ran := 0
		var kept []string
		h := &host{answers: []hermes.Decision{tt.answer, tt.answer, tt.answer}}
		tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Allowed: tt.allowed, Remember: func(keys []string) error {
			kept = append(kept, keys...)
			return nil
		}}}, terminal(&ran))
		for _, line := range []string{"rm -r a", "rm -r b", "chmod 777 c", "ls"} {
			tools.Run(t.Context(), command(line, h))
		}
		if ran != 4 || len(h.asked) != tt.asks || strings.Join(kept, ",") != strings.Join(tt.kept, ",") {
			t.Errorf("%s: ran %d of 4, asked %d times (want %d), kept %v (want %v)", tt.answer, ran, len(h.asked), tt.asks, kept, tt.kept)
		}
	}
}

func TestApprovalShowsTheWholeCommand(t *testing.T) {
	t.Parallel()
	ran := 0
	h := &host{files: &files{}}
	long := "rm -r " + strings.Repeat("x", 5000)
	mustToolbox(t, toolbox.Options{}, terminal(&ran)).Run(t.Context(), command(long, h))
	if len(h.asked) != 1 || h.asked[0].Subject != long || h.asked[0].Dir != "/here/" || h.asked[0].Tool != "terminal" {
		t.Errorf("asked %+v", h.asked)
	}
}

func TestApprovalShowsWhatAScreenWouldHide(t *testing.T) {
	t.Parallel()
	ran := 0
	h := &host{}
	mustToolbox(t, toolbox.Options{}, terminal(&ran)).Run(t.Context(), command("rm -r a\u202e\x1b[2K\r\u200b\n\tls é", h))
	if got, want := h.asked[0].Subject, "rm -r a<U+202E><U+001B>[2K<U+000D><U+200B>\n\tls é"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRefusalsInARowEndInAStop(t *testing.T) {
	t.Parallel()
	ran := 0
	tools := mustToolbox(t, toolbox.Options{Guardrail: toolbox.Guardrail{Quiet: true}, Approvals: toolbox.Approvals{Breaker: 3}}, terminal(&ran))
	last := ""
	for range 3 {
		last = tools.Run(t.Context(), command("rm -r a", &host{})).Text
	}
	if !strings.Contains(last, "stop calling tools now") {
		t.Errorf("third refusal: %s", last)
	}
	tools.TurnStarted()
	if r := tools.Run(t.Context(), command("rm -r a", &host{})); strings.Contains(r.Text, "stop calling tools now") {
		t.Errorf("the count was not reset with the turn: %s", r.Text)
	}
}

func TestModeOffRunsWhatIsNotForbidden(t *testing.T) {
	t.Parallel()
	ran := 0
	tools := mustToolbox(t, toolbox.Options{}, terminal(&ran))
	tools.SetMode(toolbox.ModeOff)
	if r := tools.Run(t.Context(), command("rm -r a", nil)); r.Failed || ran != 1 {
		t.Errorf("got %s", r.Text)
	}
}

func TestParseMode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		value any
		want  toolbox.Mode
	}{
		{false, toolbox.ModeOff}, {"off", toolbox.ModeOff}, {"OFF", toolbox.ModeOff}, {true, toolbox.ModeManual}, {"", toolbox.ModeManual},
		{nil, toolbox.ModeManual}, {"whatever", toolbox.ModeManual}, {"smart", toolbox.ModeSmart}, {"manual", toolbox.ModeManual}, {3, toolbox.ModeManual},
	} {
		if got := toolbox.ParseMode(tt.value); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.value, got, tt.want)
		}
	}
}

func TestDenyRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		glob, line string
		denied     bool
	}{
		{"git push*", "git push --force", true},
		{"git push*", "GIT  PUSH", true},
		{"git push*", "/usr/bin/git push", true},
		{"git push*", "sudo -u bob env A=1 nohup git push", true},
		{"git push*", "timeout 10s git push", true},
		{"git push*", "true; git push", true},
		{"git push*", "echo $(git push)", true},
		{"git push*", "bash -c 'git push'", true},
		{"git push*", "g''it push", true},
		{"git push*", "find . | xargs -n 1 git push", true},
		{"git push*", "git status", false},
		{"git push*", "echo about git push", false},
		{"npm publish", "npm publish --dry-run", false},
		{"*--force*", "git push --force", true},
		{"rm -[rf]* /", "rm -rf /", true},
		{"rm ?", "rm x", true},
		{"rm [!x]", "rm x", false},
		{"", "ls", false},
	} {
		ran := 0
		tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Mode: toolbox.ModeOff, Deny: []string{tt.glob}}}, terminal(&ran))
		tools.Run(t.Context(), command(tt.line, nil))
		if got := ran == 0; got != tt.denied {
			t.Errorf("%q against %q: denied %v, want %v", tt.line, tt.glob, got, tt.denied)
		}
	}
}
