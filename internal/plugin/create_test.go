package plugin_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/environment"
	"hermes/internal/plugin"
)

// needs skips a test without a program, except where all must be there.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// TestTemplatesAreToolsetsLikeOthers: the plugin that each template makes passes the suite that
// built-in toolsets pass, and its hook guards.
func TestTemplatesAreToolsetsLikeOthers(t *testing.T) {
	t.Parallel()
	for language, program := range map[string]string{"python": "python3", "typescript": "node", "go": "go"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			needs(t, program)
			folder := t.TempDir()
			dir := filepath.Join(folder, "word-counter")
			if files, err := plugin.Create(dir, "word-counter", language); err != nil || len(files) < 3 {
				t.Fatal(files, err)
			}
			if language == "go" {
				build := exec.Command("go", "build", "-o", "plugin", "./")
				build.Dir = dir
				build.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0")
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			all := enabled(t, folder, "word-counter")
			hermestest.RunToolset(t, func(t *testing.T) hermes.Toolset {
				return enabled(t, folder, "word-counter").Toolsets()[0]
			}, hermestest.ToolSample{Tool: "word_counter_count_words", Arguments: `{"text":"one two  three"}`, Want: "3"})
			for command, refused := range map[string]bool{"mkfs /dev/x": true, "ls": false} {
				arguments, _ := json.Marshal(map[string]string{"command": command})
				_, why := (&fixture{t: t, all: all}).before(&host{}, "terminal", string(arguments))
				if (why != "") != refused || refused && !strings.Contains(why, "mkfs is never run here") {
					t.Errorf("%s: %s", command, why)
				}
			}
		})
	}
}

// aroundNode declares what the template uses of Node, so that nothing has to be installed.
const aroundNode = `declare module 'node:readline' {
  export function createInterface(options: { input: unknown }): { on(event: 'line', listener: (line: string) => void): void; on(event: 'close', listener: () => void): void }
}
declare const process: { stdin: { destroy(): void }; stdout: { write(text: string): void }; exit(code: number): never }
`

// TestTheTypeScriptTemplateIsWellTyped: the types in its comments are those of its code, as the
// compiler sees it where it is installed.
func TestTheTypeScriptTemplateIsWellTyped(t *testing.T) {
	t.Parallel()
	needs(t, "node")
	dir := filepath.Join(t.TempDir(), "words")
	if _, err := plugin.Create(dir, "words", "typescript"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "node.d.ts"), []byte(aroundNode), 0o600); err != nil {
		t.Fatal(err)
	}
	checks := [][]string{{"node", "--check", "main.mjs"}, {"node", "--check", "hermes_plugin.mjs"}}
	if _, err := exec.LookPath("tsc"); err == nil {
		checks = append(checks, []string{"tsc", "--checkJs", "--allowJs", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext", "--lib", "es2022,dom", "main.mjs", "hermes_plugin.mjs", "node.d.ts"})
	}
	for _, c := range checks {
		cmd := exec.CommandContext(t.Context(), c[0], c[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", c, err, out)
		}
	}
}

// enabled looks at a plugin, pins it and loads it as a program does.
func enabled(t *testing.T, folder, name string) *plugin.Plugins {
	t.Helper()
	dir := filepath.Join(folder, name)
	c := plugin.Config{Environment: func(plugin.Manifest, string) (hermes.Environment, error) {
		return environment.NewLocal(environment.LocalConfig{Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}})
	}}
	m, notes, err := plugin.ReadManifest(dir)
	if err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	d, err := plugin.Digest(dir)
	if err != nil {
		t.Fatal(err)
	}
	o, err := plugin.Look(t.Context(), c, dir, m)
	if err != nil {
		t.Fatal(err)
	}
	if err := plugin.PinsIn(folder).Set(t.Context(), name, plugin.Pin{Digest: d, Offer: o}); err != nil {
		t.Fatal(err)
	}
	all, err := plugin.New(c, folder, []string{name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = all.Close() }) // it has no error
	return all
}

func TestCreateKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := plugin.Create(dir, "x", "python"); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Error(err)
	}
	if _, err := plugin.Create(filepath.Join(dir, "x"), "x", "cobol"); err == nil || !strings.Contains(err.Error(), "go, javascript, python, typescript") {
		t.Error(err)
	}
	if _, err := plugin.Create(filepath.Join(dir, "x"), "../x", "go"); err == nil {
		t.Error("a name that leaves the folder")
	}
}
