package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"hermes"
	"hermes/internal/chatserver"
)

// counted is a user with a model server that answers hi and counts the requests.
func counted(t *testing.T, env ...string) (*user, *atomic.Int64) {
	t.Helper()
	requests := new(atomic.Int64)
	server := serve(t, func(*chatserver.Request) (chatserver.Answer, error) {
		requests.Add(1)
		return chatserver.Answer{Text: "hi"}, nil
	})
	return newUser(t, append(server, env...)...), requests
}

// TestNoTurnWithUnclearSpendSettings has everything that may be wrong below spend: a turn of any
// kind is refused, with the file, the line and what to do, and nothing is sent.
func TestNoTurnWithUnclearSpendSettings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ yaml, says string }{
		"a number for a cap":         {"spend:\n  session: -3\n", "line 2: spend.session must be a section"},
		"a word for a cap":           {"spend:\n  session: abc\n", "line 2: spend.session must be a section"},
		"a misspelt key":             {"spend:\n  per_session: 5\n", "line 2: spend.per_session is not a known setting"},
		"a misspelt unit":            {"spend:\n  day: {usd: 5, token: 100}\n", "line 2: spend.day.token is not a known setting"},
		"less than nothing":          {"spend:\n  day: {usd: -1}\n", "line 2: spend.day.usd must be a number from 0 to 1000000000, not \"-1\""},
		"a list":                     {"spend:\n  day:\n    usd: [5]\n", "line 3: spend.day.usd must be a number"},
		"no number":                  {"spend:\n  day: {usd: .nan}\n", "line 2: spend.day.usd must be a number"},
		"without end":                {"spend:\n  day: {usd: .inf}\n", "line 2: spend.day.usd must be a number"},
		"more money than there is":   {"spend:\n  day: {usd: 1e300}\n", "line 2: spend.day.usd must be a number"},
		"less than can be counted":   {"spend:\n  day: {usd: 1e-9}\n", "line 2: spend.day.usd"},
		"a currency sign":            {"spend:\n  turn: {usd: $5}\n", "line 2: spend.turn.usd must be a number"},
		"a comma":                    {"spend:\n  turn: {usd: '5,50'}\n", "line 2: spend.turn.usd must be a number"},
		"half a token":               {"spend:\n  tree: {tokens: 1.5}\n", "line 2: spend.tree.tokens must be a whole number"},
		"a cap twice":                {"spend:\n  day: {usd: 1}\n  day: {usd: 100}\n", "line 3: spend.day is already set in line 2"},
		"the section is a number":    {"spend: 5\n", "line 1: spend must be a section with keys, written as `name: value`; no turn is started while it is unclear what may be spent. Fix it with `hermes config set spend '{turn: {usd: VALUE}}'`"},
		"the section is a list":      {"spend: [day, 5]\n", "line 1: spend must be a section"},
		"the section twice":          {"spend:\n  day: {usd: 1}\nspend:\n  day: {usd: 100}\n", "line 3: spend is already set in line 1"},
		"a misspelt section":         {"spned:\n  day: {usd: 1}\n", "line 1: spned is not a known setting"},
		"a section in capitals":      {"Spend:\n  day: {usd: 1}\n", "line 1: Spend is not a known setting"},
		"a variable that is not set": {"spend:\n  day: {usd: \"${CAP_OF_THE_DAY}\"}\n", "line 2: spend.day.usd uses the variable CAP_OF_THE_DAY, which is not set"},
		"a warning that is no share": {"spend:\n  warn_at: [50, often]\n", "line 2: spend.warn_at"},
		"a price without the output": {"spend:\n  prices:\n    played: {input: 1}\n", "line 3: spend.prices.played"},
		"a price that is no number":  {"spend:\n  prices:\n    played: {input: 1, output: lots}\n", "line 3: spend.prices.played.output must be a number"},
		"a file that cannot be read": {"spend:\n  day: {usd: 1\nagent: [\n", "config.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, requests := counted(t)
			p.configure(tt.yaml)
			for _, args := range [][]string{
				{"-z", "hi", "-m", "played"}, {"chat", "-q", "hi", "-m", "played"}, {"chat", "-Q", "-q", "hi", "-m", "played"},
				{"-c", "-z", "hi", "-m", "played"},
			} {
				out, errs, status := p.run(args...)
				if status != 2 || out != "" || !strings.Contains(errs, tt.says) || !strings.Contains(errs, "config.yaml") {
					t.Errorf("%v: status %d: %s%s", args, status, out, errs)
				}
				if !strings.Contains(errs, "hermes config ") {
					t.Errorf("%v: it does not say what to do: %s", args, errs)
				}
				if n := strings.Count(errs, tt.says); n != 1 {
					t.Errorf("%v: said %d times: %s", args, n, errs)
				}
			}
			if n := requests.Load(); n > 0 {
				t.Errorf("%d requests reached the model", n)
			}
			if list, err := p.store().ListSessions(t.Context(), hermes.SessionFilter{Limit: -1}); err != nil || len(list) > 0 {
				t.Errorf("sessions %v, %v", list, err)
			}
		})
	}
}

// TestSpendSettingsThatAreFine has values that must not stop a turn.
func TestSpendSettingsThatAreFine(t *testing.T) {
	t.Parallel()
	for name, yaml := range map[string]string{
		"nothing":           "spend:\n",
		"empty caps":        "spend:\n  day:\n  session: {usd: null}\n",
		"zero":              "spend:\n  day: {usd: 0, tokens: 0}\n",
		"quoted":            "spend:\n  day: {usd: \"5.5\"}\n",
		"a variable":        "spend:\n  day: {usd: \"${CAP}\"}\n",
		"a planned cap":     "spend:\n  job: {usd: 1}\n",
		"shares":            "spend:\n  warn_at: [50, \"75%\"]\n  flat_rate: [mine]\n",
		"prices":            "spend:\n  prices:\n    other: {input: 1, output: 2}\n    free: {input: 0, output: 0, cache_read: 0}\n",
		"another's mistake": "agent: {max_turns: lots}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, requests := counted(t, "CAP=7")
			p.configure(yaml)
			if out, errs, status := p.run("-z", "hi", "-m", "played"); status != 0 || out != "hi\n" || requests.Load() != 1 {
				t.Errorf("status %d: %s%s", status, out, errs)
			}
		})
	}
}

// TestUnclearSpendSettingsLetOthersWork has the commands that read or repair, beside a session
// from before the mistake.
func TestUnclearSpendSettingsLetOthersWork(t *testing.T) {
	t.Parallel()
	p, requests := counted(t)
	if out, errs, status := p.run("-z", "hi", "-m", "played"); status != 0 {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	p.configure("spend:\n  session: -3\n")
	before := requests.Load()
	for command, status := range map[string]int{
		"--help": 0, "--version": 0, "config show": 0, "config show spend": 0, "config get agent.max_turns": 0, "config path": 0, "config check": 1,
		"doctor": 0, "spend": 0, "spend --json": 0, "insights": 0, "sessions list": 0, "sessions export -": 0, "tools": 0, "memory list": 0, "model": 0,
		"prompt-size": 0, "logs": 0, "undo --list": 0,
	} {
		if out, errs, got := p.run(strings.Fields(command)...); got != status {
			t.Errorf("hermes %s: status %d, want %d: %s%s", command, got, status, out, errs)
		}
	}
	for _, command := range []string{"spend", "spend --json"} {
		if _, errs, _ := p.run(strings.Fields(command)...); strings.Count(errs, "spend.session must be a section") != 1 {
			t.Errorf("hermes %s shows caps without the one that is unclear, and says %q", command, errs)
		}
	}
	if out, errs, status := p.run("-c", "-z", "go on"); status != 2 || requests.Load() != before {
		t.Errorf("the session was resumed: status %d: %s%s", status, out, errs)
	}
	if _, errs, status := p.run("config", "set", "spend.session", "{usd: 3}"); status != 0 {
		t.Errorf("it cannot be repaired: status %d: %s", status, errs)
	}
	if out, errs, status := p.run("-c", "-z", "go on", "-m", "played"); status != 0 || out != "hi\n" {
		t.Errorf("after the repair: status %d: %s%s", status, out, errs)
	}
}

// TestMistakeInASpendCapCannotBeSet has `config set` refuse what would stop every turn.
func TestMistakeInASpendCapCannotBeSet(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	for _, args := range [][]string{
		{"spend.session", "-3"}, {"spend.session", "5"}, {"spend.per_session", "5"}, {"spend.day.usd", "-1"}, {"spend.day.usd", "nan"},
		{"spend.session", "{usd: -3}"}, {"spend.session", "{dollars: 3}"}, {"spend.day.usd", "1e-9"}, {"spend.warn_at", "often"}, {"spend", "{day: 5}"},
	} {
		_, errs, status := p.run("config", "set", args[0], "--", args[1])
		if status == 0 {
			t.Errorf("%v was written: %s", args, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(p.home, "config.yaml")); err == nil {
		t.Error("something was written")
	}
}
