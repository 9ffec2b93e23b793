package toolbox_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/permission"
	"hermes/internal/policy/shell"
	"hermes/internal/toolbox"
)

// ruled returns the policies of a text, for [toolbox.Approvals].
func ruled(t testing.TB, texts ...string) func(string) permission.Policies {
	t.Helper()
	var ps permission.Policies
	for _, text := range texts {
		p := permission.ReadPolicy([]byte(text), "permissions.yaml", "/home/ada")
		if len(p.Problems) > 0 {
			t.Fatal(p.Problems)
		}
		ps = append(ps, p)
	}
	return func(string) permission.Policies { return ps }
}

// rulesTool is a tool for commands, of which those with rm have a risk.
func rulesTool(ran *[]string) hermes.Tool {
	return naming{risky{tool: tool{spec: hermes.Spec{Name: "terminal", Effect: hermes.EffectUnknown}, run: func(_ context.Context, c *hermes.Call) (hermes.Result, error) {
		*ran = append(*ran, string(c.Arguments))
		return hermes.Result{Text: "{}"}, nil
	}}, assess: func(c *hermes.Call) []hermes.Risk {
		if strings.Contains(string(c.Arguments), "rm ") {
			return []hermes.Risk{{Key: "recursive-delete", Reason: "deletes"}}
		}
		if strings.Contains(string(c.Arguments), "keys ") {
			return []hermes.Risk{{Key: "edited-line", Reason: "edits", NoRemember: true, Unclear: true}}
		}
		return nil
	}}}
}

// TestTheOrderOfVerdicts: what denies beats what asks, that beats what allows and the mode, and
// a call without risks runs.
func TestTheOrderOfVerdicts(t *testing.T) {
	t.Parallel()
	const rules = "rules:\n- {deny: 'terminal: rm -rf /data*', reason: keep it}\n- ask: 'terminal: git push'\n- allow: 'terminal: rm -rf build'\n- allow: 'terminal: git push'\n"
	for _, tt := range []struct {
		line  string
		mode  toolbox.Mode
		asked int
		runs  bool // without a yes
	}{
		{"rm -rf /data/x", "", 0, false},
		{"rm -rf /data/x", toolbox.ModeOff, 0, false},
		{"git push", "", 1, false},
		{"git push", toolbox.ModeOff, 1, false},
		{"git push", toolbox.ModeSmart, 1, false},
		{"rm -rf build", "", 0, true},
		{"rm -rf src", "", 1, false},
		{"rm -rf src", toolbox.ModeOff, 0, true},
		{"ls", "", 0, true},
		{"keys a", "", 1, false},
		{"keys a", toolbox.ModeOff, 1, false}, // what runs may be what a rule denies
	} {
		var ran []string
		h := &host{files: &files{}, dir: "/here"}
		o := toolbox.Options{Approvals: toolbox.Approvals{Mode: tt.mode, Policies: ruled(t, rules),
			Judge: func(context.Context, hermes.SessionRef, hermes.ApprovalRequest) (hermes.Decision, error) {
				return hermes.AllowOnce, nil
			}}}
		r := mustToolbox(t, o, rulesTool(&ran)).Run(t.Context(), command(tt.line, h))
		if len(h.asked) != tt.asked || len(ran) > 0 != tt.runs {
			t.Errorf("%q, mode %q: asked %d times, ran %v, want %d and %v: %s", tt.line, tt.mode, len(h.asked), ran, tt.asked, tt.runs, r.Text)
		}
		if strings.Contains(tt.line, "/data") && (!strings.Contains(r.Text, "permissions.yaml:2") || !strings.Contains(r.Text, "keep it")) {
			t.Errorf("the refusal does not say which rule and why: %s", r.Text)
		}
	}
}

// TestAnAnswerToARuleHoldsForTheSameSubject, whatever scope is answered.
func TestAnAnswerToARuleHoldsForTheSameSubject(t *testing.T) {
	t.Parallel()
	for _, d := range []hermes.Decision{hermes.AllowOnce, hermes.AllowSession, hermes.AllowAlways} {
		var ran []string
		store := &kept{}
		h := &host{files: &files{}, answers: []hermes.Decision{d, hermes.AllowOnce, hermes.AllowOnce}, scope: hermes.ScopeKind}
		if d != hermes.AllowOnce {
			h.scope = ""
		}
		o := toolbox.Options{Approvals: toolbox.Approvals{Grants: store, Policies: ruled(t, "rules:\n- ask: 'terminal: git push'\n")}}
		tools := mustToolbox(t, o, rulesTool(&ran))
		for _, line := range []string{"git push a", "git push a", "git push b"} {
			tools.Run(t.Context(), command(line, h))
		}
		want := 2
		if d == hermes.AllowOnce {
			want = 3
		}
		if len(h.asked) != want || len(ran) != 3 {
			t.Errorf("%s: asked %d times, want %d; ran %v", d, len(h.asked), want, ran)
		}
		if a := h.asked[0]; slices.Contains(a.Session, hermes.ScopeKind) || slices.Contains(a.Always, hermes.ScopeKind) {
			t.Errorf("%s: every call of the kind was offered", d)
		}
		other := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Grants: store, Policies: ruled(t, "rules:\n- ask: 'terminal: git push a'\n")}}, rulesTool(&ran))
		h = &host{files: &files{}}
		if other.Run(t.Context(), command("git push a", h)); len(h.asked) != 1 {
			t.Errorf("%s: an answer to one rule counts for another", d)
		}
	}
}

// TestUnclearRulesStopEveryCall, in every mode, and say where.
func TestUnclearRulesStopEveryCall(t *testing.T) {
	t.Parallel()
	var ran []string
	p := permission.ReadPolicy([]byte("rules:\n- {denny: terminal}\n"), "permissions.yaml", "")
	o := toolbox.Options{Approvals: toolbox.Approvals{Mode: toolbox.ModeOff, Policies: func(string) permission.Policies { return permission.Policies{p} }}}
	r := mustToolbox(t, o, rulesTool(&ran)).Run(t.Context(), command("ls", &host{files: &files{}}))
	if len(ran) > 0 || !r.Failed || !strings.Contains(r.Text, "permissions.yaml:2") {
		t.Errorf("ran %v: %s", ran, r.Text)
	}
}

// TestNothingAllowsWhatARuleDenies tries sequences of grants, modes, projects, children and
// restarts: a denied call never runs, and one that a rule asks for only after a yes to that call.
func TestNothingAllowsWhatARuleDenies(t *testing.T) {
	t.Parallel()
	const own = "rules:\n- deny: 'terminal: git push --force*'\n- ask: 'terminal: npm publish'\n"
	projects := []string{
		"", "terminal.*: allow\n", "rules:\n- allow: 'terminal: git push *'\n- allow: 'terminal: npm publish'\n- allow: terminal\n", "rules:\n- deny: 'terminal: make'\n",
	}
	denied := []string{"git push --force", "git push origin x --force", "sh -c 'git push --force'", "cd a; git push a --force-with-lease"}
	asks := []string{"npm publish", "npm publish a", "cd b && npm publish"}
	others := []string{"ls", "rm -rf a", "git push"}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		store := &kept{}
		var ran []string
		var tools *toolbox.Toolbox
		var story []string
		start := func() {
			project := projects[random.IntN(len(projects))]
			mode := []toolbox.Mode{toolbox.ModeManual, toolbox.ModeSmart, toolbox.ModeOff}[random.IntN(3)]
			o := toolbox.Approvals{
				Mode: mode, Grants: store, Policies: ruled(t, own, project), Allowed: []string{"recursive-delete"},
				Judge: func(context.Context, hermes.SessionRef, hermes.ApprovalRequest) (hermes.Decision, error) {
					return hermes.AllowOnce, nil
				},
			}
			if random.IntN(2) == 0 {
				o.Rules, _ = permission.ParseRules([]string{"terminal"})
			}
			story = append(story, fmt.Sprintf("start in mode %s with project %q", mode, project))
			tools = mustToolbox(t, toolbox.Options{Approvals: o}, rulesTool(&ran))
		}
		start()
		mode := hermes.RightsMode("")
		yes := map[string]bool{} // commands that the user allowed beyond the call
		for range 30 {
			switch random.IntN(8) {
			case 0:
				start()
				continue
			case 1:
				mode = []hermes.RightsMode{"", hermes.ModeAsk, hermes.ModePlan, hermes.ModeAcceptEdits, hermes.ModeYolo}[random.IntN(5)]
				continue
			case 2:
				_ = store.Add(t.Context(), hermes.Grant{Tool: "terminal", Key: "recursive-delete", Unattended: true})
				continue
			}
			lists := [][]string{denied, asks, others}
			list := lists[random.IntN(len(lists))]
			line := list[random.IntN(len(list))]
			answer := []hermes.Decision{hermes.Deny, hermes.AllowOnce, hermes.AllowSession, hermes.AllowAlways}[random.IntN(4)]
			h := &host{files: &files{}, answers: []hermes.Decision{answer}, depth: random.IntN(2), alone: random.IntN(3) == 0, mode: mode}
			before := len(ran)
			tools.Run(t.Context(), command(line, h))
			did := len(ran) > before
			story = append(story, fmt.Sprintf("%q in mode %q, answer %s, depth %d, alone %v: asked %d times, ran %v", line, mode, answer, h.depth, h.alone, len(h.asked), did))
			if did && slices.Contains(denied, line) {
				t.Fatalf("seed %d: a denied call ran:\n%s", seed, strings.Join(story, "\n"))
			}
			if did && slices.Contains(asks, line) && !yes[line] && (len(h.asked) == 0 || !answer.Allowed()) {
				t.Fatalf("seed %d: a call ran that a rule asks for:\n%s", seed, strings.Join(story, "\n"))
			}
			if did && mode == hermes.ModePlan {
				t.Fatalf("seed %d: a call with an effect ran in plan mode:\n%s", seed, strings.Join(story, "\n"))
			}
			if did && len(h.asked) > 0 && (answer == hermes.AllowSession || answer == hermes.AllowAlways) {
				yes[line] = true
			}
		}
	}
}

// BenchmarkVerdict finds the risks of commands and judges them with 40 rules.
func BenchmarkVerdict(b *testing.B) {
	var rules strings.Builder
	rules.WriteString("rules:\n")
	for i := range 20 {
		fmt.Fprintf(&rules, "- deny: 'terminal: tool%d --force*'\n- ask: 'file.write: ./part%d/**'\n", i, i)
	}
	p := permission.ReadPolicy([]byte(rules.String()), "permissions.yaml", "/home/ada")
	ps := permission.Policies{p}
	for _, line := range []string{"go test ./...", "cd src && git log --oneline -n 5 | head && make build V=1"} {
		b.Run(fmt.Sprint(len(line)), func(b *testing.B) {
			for b.Loop() {
				c := permission.Call{Tool: "terminal", Toolset: "terminal", Writes: true, Command: line, Texts: []string{line}, Workspace: "/work", Dir: "/work"}
				if v := shell.Judge(line, shell.Context{Home: "/home/ada", Dir: "/work"}); v.Level() != shell.Allow {
					b.Fatal(v)
				}
				if _, stops := ps.Unclear(); stops {
					b.Fatal("unclear")
				}
				if d, asks := ps.Denied(&c, time.Time{}); d != nil || len(asks) > 0 {
					b.Fatal(d, asks)
				}
			}
		})
	}
}
