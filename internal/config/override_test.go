package config_test

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"hermes/internal/config"
)

// TestTheModelOfOneProcess has a variable that wins over config.yaml, but not over the
// command line and the administrator's file.
func TestTheModelOfOneProcess(t *testing.T) {
	t.Parallel()
	managed := filepath.Join(t.TempDir(), "managed.yaml")
	if err := os.WriteFile(managed, []byte("model: {default: managed}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, yaml, env, variable, want string
		options                         config.Options
		source                          config.Source
	}{
		{name: "no file", variable: "openrouter:a/b", want: "openrouter:a/b", source: config.FromEnv},
		{name: "over the file", yaml: "model: {default: file}\n", variable: " own ", want: "own", source: config.FromEnv},
		{name: "over the short form", yaml: "model: file\n", variable: "own", want: "own", source: config.FromEnv},
		{name: "over a null", yaml: "model: {default: }\n", variable: "own", want: "own", source: config.FromEnv},
		{name: "in .env", yaml: "model: file\n", env: "HERMES_INFERENCE_MODEL=dot\n", want: "dot", source: config.FromEnv},
		{name: "empty", yaml: "model: {default: file}\n", variable: " ", want: "file", source: config.FromFile},
		{name: "the command line", variable: "own", options: config.Options{Flags: map[string]string{"model.default": "flag"}}, want: "flag", source: config.FromFlag},
		{name: "the administrator", yaml: "model: file\n", variable: "own", options: config.Options{Managed: managed}, want: "managed", source: config.FromManaged},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := tt.options
			o.Managed = cmp.Or(o.Managed, "-")
			o.LookupEnv = func(name string) (string, bool) {
				return tt.variable, name == "HERMES_INFERENCE_MODEL" && tt.variable != ""
			}
			c := config.Load(setup(t, tt.yaml, tt.env), o)
			got := c.EntriesBelow("model", "default")
			if len(got) != 1 || got[0].Value != tt.want || got[0].Source != tt.source || c.Model().Default != tt.want {
				t.Errorf("got %q, %+v, want %q of %q", c.Model().Default, got, tt.want, tt.source)
			}
		})
	}
}
