package toolbox_test

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/toolbox"
)

// inMode is a host with a folder /work, in which out leads to /etc.
type inMode struct{ *host }

func (h inMode) Environment() hermes.Environment { return linked{} }

type linked struct{ hermes.Environment }

func (linked) Files() hermes.Files { return linkedFiles{} }

type linkedFiles struct{ hermes.Files }

func (linkedFiles) Resolve(p string) (string, error) {
	if !path.IsAbs(p) {
		p = path.Join("/work", p)
	}
	return path.Clean(p), nil
}

func (linkedFiles) RealPath(_ context.Context, p string) (string, error) {
	if rest, ok := strings.CutPrefix(p, "/work/out"); ok {
		return "/etc" + rest, nil
	}
	return p, nil
}

// TestWhatEachModeAsks has a tool for files with one risk after the other.
func TestWhatEachModeAsks(t *testing.T) {
	t.Parallel()
	const ask, edits, always = "ask", "ask accept-edits", "ask accept-edits yolo"
	for name, tt := range map[string]struct {
		path string
		risk hermes.Risk
		asks string // the modes that ask
	}{
		"a file of the folder":        {"a", hermes.Risk{Key: "edit"}, ask},
		"a file elsewhere":            {"/home/a", hermes.Risk{Key: "edit"}, edits},
		"through a link":              {"out/passwd", hermes.Risk{Key: "edit"}, edits},
		"up and away":                 {"../b", hermes.Risk{Key: "edit"}, edits},
		"a similar folder":            {"/work2/a", hermes.Risk{Key: "edit"}, edits},
		"a protected file":            {"a", hermes.Risk{Key: "path:tool-config"}, edits},
		"a file of Hermes":            {"a", hermes.Risk{Key: "own-x"}, edits},
		"each time":                   {"a", hermes.Risk{Key: "edit", Once: true, NoRemember: true}, edits},
		"only the user":               {"a", hermes.Risk{Key: "edit", NoRemember: true}, edits},
		"what untrusted text may ask": {"a", hermes.Risk{Key: "edit", NoRemember: true, EveryMode: true}, always},
	} {
		for _, mode := range []hermes.RightsMode{hermes.ModeAsk, hermes.ModeAcceptEdits, hermes.ModeYolo} {
			ran := 0
			write := risky{
				tool: tool{spec: hermes.Spec{Name: "write", Paths: func(json.RawMessage) []string { return []string{tt.path} }}, run: func(context.Context, *hermes.Call) (hermes.Result, error) {
					ran++
					return hermes.Result{}, nil
				}},
				assess: func(*hermes.Call) []hermes.Risk { return []hermes.Risk{tt.risk} },
			}
			h := inMode{&host{mode: mode}}
			c := call("write", "{}")
			c.Host = h
			mustToolbox(t, toolbox.Options{}, write).Run(t.Context(), c)
			want := slices.Contains(strings.Fields(tt.asks), string(mode))
			if asked := len(h.asked) > 0; asked != want || asked == (ran > 0) {
				t.Errorf("%s in %s: asked %v, ran %d", name, mode, asked, ran)
			}
		}
	}
}

// TestPlanModeRefusesWithoutAQuestion all that may have an effect.
func TestPlanModeRefusesWithoutAQuestion(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spec hermes.Spec
		runs bool
	}{
		"unknown":        {hermes.Spec{}, false},
		"idempotent":     {hermes.Spec{Effect: hermes.EffectIdempotent}, false},
		"only reads":     {hermes.Spec{Effect: hermes.EffectNone}, true},
		"this one reads": {hermes.Spec{ReadsOnly: func(json.RawMessage) bool { return true }}, true},
		"asks":           {hermes.Spec{Effect: hermes.EffectAsk}, true},
		"only plans":     {hermes.Spec{Effect: hermes.EffectIdempotent, PlansOnly: true}, true},
	} {
		ran := 0
		tt.spec.Name = "do"
		do := tool{spec: tt.spec, run: func(context.Context, *hermes.Call) (hermes.Result, error) { ran++; return hermes.Result{}, nil }}
		h := &host{mode: hermes.ModePlan}
		c := call("do", "{}")
		c.Host = h
		r := mustToolbox(t, toolbox.Options{Approvals: toolbox.Approvals{Mode: toolbox.ModeOff}}, do).Run(t.Context(), c)
		if (ran > 0) != tt.runs || len(h.asked) > 0 || strings.Contains(r.Text, "plan mode") == tt.runs {
			t.Errorf("%s: ran %d times, asked %d: %s", name, ran, len(h.asked), r.Text)
		}
	}
}

// TestAnApprovalThatComesInPlanModeRunsNothing: the user changed the mode while the call waited.
func TestAnApprovalThatComesInPlanModeRunsNothing(t *testing.T) {
	t.Parallel()
	ran := 0
	h := &changing{host: &host{mode: hermes.ModeAsk}}
	r := mustToolbox(t, toolbox.Options{}, terminal(&ran)).Run(t.Context(), command("rm -r a", h))
	if ran > 0 || !strings.Contains(r.Text, "plan mode") {
		t.Errorf("ran %d times: %s", ran, r.Text)
	}
}

// changing is in plan mode before it allows what it is asked.
type changing struct{ *host }

func (h *changing) Approve(context.Context, hermes.ApprovalRequest) (hermes.ApprovalAnswer, error) {
	h.mode = hermes.ModePlan
	return hermes.ApprovalAnswer{Decision: hermes.AllowOnce}, nil
}
