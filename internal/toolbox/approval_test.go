package toolbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/toolbox"
)

// terminal is a tool whose commands are judged by the words in them.
func terminal(ran *int) hermes.Tool {
	return naming{risky{
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
	}}
}

// naming names the command of a call as its subject.
type naming struct{ risky }

func (naming) Subject(_ context.Context, c *hermes.Call) hermes.Subject {
	var in struct{ Command string }
	_ = json.Unmarshal(c.Arguments, &in) // of a test
	s := hermes.Subject{Text: in.Command}
	if c.Host == nil {
		return s
	}
	s.Dir = c.Host.Session().Dir
	if e := c.Host.Environment(); e != nil {
		s.Dir, _ = e.Files().Resolve(".")
	}
	return s
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

// kept is a file of grants in memory.
type kept struct {
	grants []hermes.Grant
	fail   error
	cut    bool // a grant was to be stored after the turn was stopped
}

func (k *kept) Place() string { return "permissions.yaml" }

func (k *kept) All() []hermes.Grant { return k.grants }

func (k *kept) Covers(call hermes.Grant) bool {
	return slices.ContainsFunc(k.grants, func(g hermes.Grant) bool { return g.Covers(call, time.Now()) })
}

func (k *kept) Add(ctx context.Context, grants ...hermes.Grant) error {
	k.cut = k.cut || ctx.Err() != nil
	if k.fail == nil {
		k.grants = append(k.grants, grants...)
	}
	return k.fail
}

func TestDecisionHoldsAsLongAsItSays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		answer  hermes.Decision
		scope   hermes.GrantScope
		asks    int // of five calls: three with one pattern, two of them equal, and one with another
		kept    []string
		allowed []string
	}{
		{answer: hermes.AllowOnce, asks: 4},
		{answer: hermes.AllowSession, asks: 2},
		{answer: hermes.AllowSession, scope: hermes.ScopeCall, asks: 3},
		{answer: hermes.AllowAlways, asks: 3, kept: []string{"recursive delete", "recursive delete", "chmod"}},
		{answer: hermes.AllowAlways, scope: hermes.ScopeKind, asks: 2, kept: []string{"recursive delete", "chmod"}},
		{answer: hermes.AllowAlways, scope: "strange", asks: 4},
		{answer: hermes.AllowOnce, asks: 1, allowed: []string{"recursive delete"}},
	} {
		ran := 0
		store := &kept{}
		h := &host{answers: []hermes.Decision{tt.answer, tt.answer, tt.answer, tt.answer}, scope: tt.scope}
		tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Allowed: tt.allowed, Grants: store}}, terminal(&ran))
		for _, line := range []string{"rm -r a", "rm -r a", "rm -r b", "chmod 777 c", "ls"} {
			tools.Run(t.Context(), command(line, h))
		}
		var keys []string
		for _, g := range store.grants {
			keys = append(keys, g.Key)
		}
		if ran != 5 || len(h.asked) != tt.asks || !slices.Equal(keys, tt.kept) {
			t.Errorf("%s %s: ran %d of 5, asked %d times (want %d), kept %v (want %v)", tt.answer, tt.scope, ran, len(h.asked), tt.asks, keys, tt.kept)
		}
	}
}

// TestAlwaysIsNarrowAtFirst allows one command for good, and tries others.
func TestAlwaysIsNarrowAtFirst(t *testing.T) {
	t.Parallel()
	ran := 0
	store := &kept{}
	given := &host{answers: []hermes.Decision{hermes.AllowAlways}, platform: "cli"}
	mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Grants: store}}, terminal(&ran)).Run(t.Context(), command("rm -r build", given))
	want := hermes.Grant{Tool: "terminal", Key: "recursive delete", Subject: "rm -r build", Dir: "/work", Platform: "cli", By: "owner"}
	if len(store.grants) != 1 {
		t.Fatalf("stored %+v", store.grants)
	}
	got := store.grants[0]
	if got.Created.IsZero() {
		t.Error("the grant has no date")
	}
	if got.Created = (time.Time{}); got != want {
		t.Errorf("stored %+v, want %+v", got, want)
	}
	if a := given.asked[0]; a.Always[0] != hermes.ScopeCall || a.Stored != "permissions.yaml" {
		t.Errorf("offered %v in %q", a.Always, a.Stored)
	}
	for _, tt := range []struct {
		name string
		line string
		host *host
		runs bool
	}{
		{name: "the same in a new session", line: "rm -r build", host: &host{platform: "cli"}, runs: true},
		{name: "another command", line: "rm -r src", host: &host{platform: "cli"}},
		{name: "a longer command", line: "rm -r build src", host: &host{platform: "cli"}},
		{name: "another folder", line: "rm -r build", host: &host{platform: "cli", files: &files{}}},
		{name: "another platform", line: "rm -r build", host: &host{platform: "telegram"}},
		{name: "nobody to ask", line: "rm -r build", host: &host{platform: "cli", alone: true}},
	} {
		ran = 0
		tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Grants: store}}, terminal(&ran))
		tools.Run(t.Context(), command(tt.line, tt.host))
		if (ran == 1) != tt.runs {
			t.Errorf("%s: ran %d times", tt.name, ran)
		}
	}
}

// TestUnattendedRunsUseOnlyGrantsThatSaySo has old and new grants that allow
// everything of a kind.
func TestUnattendedRunsUseOnlyGrantsThatSaySo(t *testing.T) {
	t.Parallel()
	grant := hermes.Grant{Tool: "terminal", Key: "recursive delete"}
	for name, tt := range map[string]struct {
		rules toolbox.Approvals
		runs  bool
	}{
		"a setting":           {rules: toolbox.Approvals{Allowed: []string{grant.Key}}},
		"a grant":             {rules: toolbox.Approvals{Grants: &kept{grants: []hermes.Grant{grant}}}},
		"an unattended grant": {rules: toolbox.Approvals{Grants: &kept{grants: []hermes.Grant{{Tool: grant.Tool, Key: grant.Key, Unattended: true}}}}, runs: true},
		"an expired one":      {rules: toolbox.Approvals{Grants: &kept{grants: []hermes.Grant{{Tool: grant.Tool, Key: grant.Key, Unattended: true, Expires: time.Unix(1, 0)}}}}},
		"one without a key":   {rules: toolbox.Approvals{Grants: &kept{grants: []hermes.Grant{{Tool: grant.Tool, Unattended: true}}}}},
		"one of another tool": {rules: toolbox.Approvals{Grants: &kept{grants: []hermes.Grant{{Tool: "process", Key: grant.Key, Unattended: true}}}}},
	} {
		ran := 0
		mustToolbox(t, toolbox.Options{Approvals: tt.rules}, terminal(&ran)).Run(t.Context(), command("rm -r a", &host{answers: []hermes.Decision{hermes.Unattended}, alone: true}))
		if (ran == 1) != tt.runs {
			t.Errorf("%s: ran %d times", name, ran)
		}
	}
}

// TestRevokedGrantEndsInTheOpenSession takes a grant out of the file.
func TestRevokedGrantEndsInTheOpenSession(t *testing.T) {
	t.Parallel()
	ran := 0
	store := &kept{}
	h := &host{answers: []hermes.Decision{hermes.AllowAlways}}
	tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Grants: store}}, terminal(&ran))
	tools.Run(t.Context(), command("rm -r a", h))
	tools.Run(t.Context(), command("rm -r a", h))
	store.grants = nil
	tools.Run(t.Context(), command("rm -r a", h))
	if ran != 2 || len(h.asked) != 2 {
		t.Errorf("ran %d of 3, asked %d times", ran, len(h.asked))
	}
}

// TestSecretsAreNotStoredInGrants offers no grant for exactly this command.
func TestSecretsAreNotStoredInGrants(t *testing.T) {
	t.Parallel()
	ran := 0
	store := &kept{}
	h := &host{answers: []hermes.Decision{hermes.Deny}}
	hide := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	mustToolbox(t, toolbox.Options{Redact: hide, Approvals: toolbox.Approvals{Grants: store}}, terminal(&ran)).Run(t.Context(), command("rm -r a hunter2", h))
	if a := h.asked[0]; !slices.Equal(a.Always, []hermes.GrantScope{hermes.ScopeKind}) {
		t.Errorf("offered %v", a.Always)
	}
}

// TestGrantThatCannotBeStoredHoldsForTheSession tells the user, and asks again
// in the next session.
func TestGrantThatCannotBeStoredHoldsForTheSession(t *testing.T) {
	t.Parallel()
	ran := 0
	h := &host{answers: []hermes.Decision{hermes.AllowAlways}}
	tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Grants: &kept{fail: errors.New("disk full")}}}, terminal(&ran))
	r := tools.Run(t.Context(), command("rm -r a", h))
	tools.Run(t.Context(), command("rm -r a", h))
	if ran != 2 || len(h.asked) != 1 {
		t.Errorf("ran %d, asked %d", ran, len(h.asked))
	}
	if !strings.Contains(r.Shown, "could not be stored") { // progress is gone when the call ends
		t.Errorf("the user is shown %q", r.Shown)
	}
	if !strings.Contains(h.said, "could not be stored") || !strings.Contains(h.said, "disk full") {
		t.Errorf("said %q", h.said)
	}
}

// TestGrantIsStoredAlthoughTheTurnIsStopped has given the answer before the stop.
func TestGrantIsStoredAlthoughTheTurnIsStopped(t *testing.T) {
	t.Parallel()
	ran := 0
	store := &kept{}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	h := &host{answers: []hermes.Decision{hermes.AllowAlways}}
	mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Grants: store}}, terminal(&ran)).Run(ctx, command("rm -r a", h))
	if len(store.grants) != 1 || store.cut {
		t.Errorf("stored %+v, cut %v", store.grants, store.cut)
	}
}

// TestReasonOfARefusalReachesTheModel passes on what the user typed instead of
// a choice.
func TestReasonOfARefusalReachesTheModel(t *testing.T) {
	t.Parallel()
	ran := 0
	r := mustToolbox(t, toolbox.Options{}, terminal(&ran)).Run(t.Context(), command("rm -r a", &host{reason: "use git clean -n first"}))
	if message, _ := fields(t, r)["message"].(string); !strings.Contains(message, `"use git clean -n first"`) {
		t.Errorf("the model reads %s", message)
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
	mustToolbox(t, toolbox.Options{}, terminal(&ran)).Run(t.Context(), command("rm -r a\u202e\x1b[2K\r\u200b\n\tls é\u00a0\u2003\u2800", h))
	if got, want := h.asked[0].Subject, "rm -r a<U+202E><U+001B>[2K<U+000D><U+200B>\n\tls é<U+00A0><U+2003><U+2800>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	mustToolbox(t, toolbox.Options{}, hiding{}).Run(t.Context(), &hermes.Call{Name: "hiding", Host: h})
	if a := h.asked[1]; a.Detail != "de<U+202E>tail" || a.Dir != "/d<U+200B>ir<U+000A><U+0009>x<U+0020> y" {
		t.Errorf("the detail is %q, the folder %q", a.Detail, a.Dir)
	}
}

// hiding is a tool with invisible characters in what it says of a call.
type hiding struct{}

func (hiding) Spec() hermes.Spec { return hermes.Spec{Name: "hiding"} }
func (hiding) Run(context.Context, *hermes.Call) (hermes.Result, error) {
	return hermes.Result{}, nil
}
func (hiding) AssessRisk(context.Context, *hermes.Call) []hermes.Risk {
	return []hermes.Risk{{Key: "k", Reason: "hides"}}
}
func (hiding) Subject(context.Context, *hermes.Call) hermes.Subject {
	return hermes.Subject{Text: "text", Detail: "de\u202etail", Dir: "/d\u200bir\n\tx  y"}
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
	tools.Run(t.Context(), command("rm -r a", &host{answers: []hermes.Decision{hermes.AllowOnce}}))
	tools.Run(t.Context(), command("rm -r a", &host{}))
	if r := tools.Run(t.Context(), command("rm -r a", &host{})); strings.Contains(r.Text, "stop calling tools now") {
		t.Errorf("two refusals after an approval count as three in a row: %s", r.Text)
	}
	off := mustToolbox(t, toolbox.Options{Guardrail: toolbox.Guardrail{Quiet: true}}, terminal(&ran))
	if r := off.Run(t.Context(), command("rm -r a", &host{})); strings.Contains(r.Text, "stop calling tools now") {
		t.Errorf("a breaker of 0 is not off: %s", r.Text)
	}
}

// TestStopAtAnApprovalIsNoRefusal stops the turn while the user is asked: the model
// must not read that the user refused.
func TestStopAtAnApprovalIsNoRefusal(t *testing.T) {
	t.Parallel()
	ran := 0
	ctx, stop := context.WithCancelCause(t.Context())
	stop(hermes.ErrInterrupted)
	r := mustToolbox(t, toolbox.Options{}, terminal(&ran)).Run(ctx, command("rm -r a", &host{fail: context.Cause(ctx)}))
	if ran > 0 || !r.Failed || !strings.Contains(r.Text, "interrupted") || strings.Contains(r.Text, "consent") {
		t.Errorf("ran %d times: %s", ran, r.Text)
	}
}

func TestModeOffRunsWhatIsNotForbidden(t *testing.T) {
	t.Parallel()
	ran := 0
	tools := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Mode: toolbox.ModeOff}}, terminal(&ran))
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
		{"git push*", "bash -eo pipefail -c 'true; git push'", true},
		{"git push*", "x=push; git $x", true},
		{"git push*", "git $x", true},
		{"git push*", "git log $x", false},
		{"*--force*", "ls $x", false},
		{"git push*", "f() { \"$@\"; }; f git push", true},
		{"git push*", "alias g='git push'; g", true},
		{"git push*", "echo git push | sh", true},
		{"git push*", "watch 'git push'", true},
		{"git push*", "bash <<EOF\ngit push\nEOF", true},
		{"git push*", "git commit -m 'git push'", false},
		{"git push*", "cat <<EOF\ngit push\nEOF", false},
		{"git push*", strings.Repeat("a;", 40_000) + "git push", true},
		{"git push*", "subprocess.run('git push')", true},
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
