package config_test

import "testing"

// TestGetReadsTheShortForm reads `model: x`, which sets model.default.
func TestGetReadsTheShortForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ yaml, args, want string }{
		{"model: big\n", "model.default", "big\n"},
		{"model: openrouter:big\n", "model.default", "openrouter:big\n"},
		{"model: 'gpt # 5'\n", "model.default", "gpt # 5\n"},
		{"model: big\n", "model.provider", "auto\n"},
		{"model:\n", "model.default", "\n"},
		{"model: {default: big}\n", "model.default", "big\n"},
	} {
		out, _, err := newWorld(t, c.yaml, "").run(t, "", "get", c.args)
		if err != nil || out != c.want {
			t.Errorf("%q: get %s printed %q, %v; want %q", c.yaml, c.args, out, err, c.want)
		}
	}
	w := newWorld(t, "model: big\n", "")
	if out, _, err := w.run(t, "", "get", "model.default", "--json"); err != nil || out != "\"big\"\n" {
		t.Errorf("as JSON: %q, %v", out, err)
	}
	if out, _, err := w.run(t, "", "show", "model.default"); err != nil || out != "model.default: big  # config.yaml line 1\n" {
		t.Errorf("show: %q, %v", out, err)
	}
}
