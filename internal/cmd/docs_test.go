package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	settings "hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/mcp/setting"
)

// pages are the manuals whose examples are checked here.
var pages = []string{"mcp.md", "mcp-login.md", "mcp-server.md", "plugin-protocol.md", "python-plugins.md", "tool-search.md", "web.md"}

func mustReadPage(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

var (
	fenced   = regexp.MustCompile("(?sm)^```(\\w*)\n(.*?)\n```$")
	inCode   = regexp.MustCompile("`(hermes(?: [^`\n]*)?)`")
	brackets = regexp.MustCompile(`\[[^\]]*\]`)
)

// linesOf lists the command lines of a page: those of its blocks, and those in its text.
func linesOf(page string) (list []string) {
	for _, b := range fenced.FindAllStringSubmatch(page, -1) {
		if b[1] == "yaml" || b[1] == "json" {
			continue
		}
		for line := range strings.Lines(b[2]) {
			if i := strings.Index(line, "-- hermes "); i >= 0 { // of another program
				line = line[i+3:]
			}
			if strings.HasPrefix(line, "hermes ") {
				list = append(list, line)
			}
		}
	}
	text := fenced.ReplaceAllString(page, "")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "    hermes ") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	for _, m := range inCode.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// commandsOf lists the commands of a line: `hermes mcp list | test NAME` are two.
func commandsOf(line string) (list [][]string) {
	line, _, _ = strings.Cut(line, " #")
	line, _, _ = strings.Cut(line, " & ")
	line = strings.TrimSpace(line)
	if i := strings.Index(line, "  "); i >= 0 { // what follows says what it does
		line = line[:i]
	}
	line = brackets.ReplaceAllString(line, "")
	var noun []string
	for i, part := range strings.Split(line, " | ") {
		words := strings.Fields(part)
		if i == 0 {
			words = words[1:]
			noun = words[:min(1, len(words))]
		} else {
			words = slices.Concat(noun, words)
		}
		list = append(list, words)
	}
	return list
}

// wrongCommand says what is wrong with a command line, "" if nothing.
func wrongCommand(words []string) string {
	root := testRoot(Process{Getenv: noVariables})
	root.InitDefaultHelpCmd()
	c, rest, err := root.Find(words)
	if err != nil {
		return err.Error()
	}
	c.InitDefaultHelpFlag()
	if err := c.ParseFlags(rest); err != nil && !strings.HasPrefix(err.Error(), "flag needs an argument") { // the text may name a flag only
		return err.Error()
	}
	if help, _ := c.Flags().GetBool("help"); help {
		return ""
	}
	args := c.Flags().Args()
	if c == root && len(args) > 0 || c.HasSubCommands() && len(args) > 0 && c.Args == nil {
		return "there is no command " + args[0]
	}
	if slices.Contains(args, "…") {
		return ""
	}
	if !c.Runnable() && len(args) > 0 {
		return "it does nothing"
	}
	if c.Runnable() {
		// A command that is only named, as `hermes mcp remove`, needs no arguments.
		if err := c.ValidateArgs(args); err != nil && len(args) > 0 {
			return err.Error()
		}
	}
	return ""
}

// TestCommandsOfTheManualExist: each command line of these pages names a command, its flags and as many
// arguments as it takes.
func TestCommandsOfTheManualExist(t *testing.T) {
	t.Parallel()
	for _, page := range pages {
		lines := linesOf(mustReadPage(t, page))
		if len(lines) == 0 {
			t.Errorf("no command of docs/%s was found", page)
		}
		for _, line := range lines {
			for _, words := range commandsOf(line) {
				if wrong := wrongCommand(words); wrong != "" {
					t.Errorf("docs/%s, `%s`: %s", page, strings.TrimSpace(line), wrong)
				}
			}
		}
	}
	for _, line := range []string{"hermes mcp lst", "hermes mcp add --wriet x n -- y", "hermes nothing", "hermes plugins list words", "hermes mcp list | tset NAME"} {
		all := commandsOf(line)
		if wrongCommand(all[len(all)-1]) == "" {
			t.Errorf("`%s` counts as a command", line)
		}
	}
}

var variable = regexp.MustCompile(`\$\{(?:env:)?([A-Z_]+)\}`)

// TestSettingsOfTheManualAreRead: each block of settings has no problem for `hermes config check`, and each
// server of it is read without a note.
func TestSettingsOfTheManualAreRead(t *testing.T) {
	t.Parallel()
	found := 0
	for _, page := range pages {
		for _, b := range fenced.FindAllStringSubmatch(mustReadPage(t, page), -1) {
			if b[1] != "yaml" || strings.Contains(b[2], "\nprogram: ") { // a manifest of a plugin
				continue
			}
			found++
			settingsAreRead(t, page, b[2])
		}
	}
	if found < 2 {
		t.Errorf("%d blocks of settings were found", found)
	}
}

// variablesOf are those that a text names.
func variablesOf(text string) func(name string) (string, bool) {
	set := map[string]bool{}
	for _, m := range variable.FindAllStringSubmatch(text, -1) {
		set[m[1]] = true
	}
	return func(name string) (value string, ok bool) {
		if set[name] {
			value = "value"
		}
		return value, set[name]
	}
}

func settingsAreRead(t *testing.T, page, text string) {
	t.Helper()
	dir := home.At(t.TempDir())
	if err := os.WriteFile(dir.Join("config.yaml"), []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := settings.Load(dir, settings.Options{Managed: "-", LookupEnv: variablesOf(text)})
	for _, p := range c.Check() {
		t.Errorf("docs/%s: %s", page, p)
	}
	if page != "web.md" { // the other pages are about servers
		serversAreRead(t, page, text, c.MCPServers())
	}
}

func serversAreRead(t *testing.T, page, text string, servers map[string]any) {
	t.Helper()
	vars := setting.Vars{Home: "/home/ann", Workspace: "/home/ann/work", Lookup: variablesOf(text)}
	if len(servers) == 0 {
		t.Errorf("docs/%s has no server in\n%s", page, text)
	}
	for name, raw := range servers {
		if _, notes, err := setting.Parse(name, raw, vars); err != nil || len(notes) > 0 {
			t.Errorf("docs/%s, %s: %q, %v", page, name, notes, err)
		}
	}
}

// TestFilesOfServersInTheManualAreRead, those for other clients, too: they have the form that we read.
func TestFilesOfServersInTheManualAreRead(t *testing.T) {
	t.Parallel()
	found := 0
	for _, b := range fenced.FindAllStringSubmatch(mustReadPage(t, "mcp-server.md"), -1) {
		if b[1] != "json" {
			continue
		}
		found++
		servers, err := setting.ReadFile([]byte(b[2]))
		if err != nil {
			t.Errorf("%v in\n%s", err, b[2])
			continue
		}
		all := map[string]any{}
		for name, s := range servers {
			all[name] = s
		}
		serversAreRead(t, "mcp-server.md", b[2], all)
	}
	if found != 3 {
		t.Errorf("%d files were found", found)
	}
}

// TestKeysOfServersInTheManualExist: each key of the table in docs/mcp.md is known, and so is each of
// docs/mcp-login.md.
func TestKeysOfServersInTheManualExist(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile("(?m)^\\| (`[^|]+) \\|")
	key := regexp.MustCompile("`(\\.?[a-z_.]+)`")
	found := 0
	check := func(page, table, prefix string) {
		_, text, ok := strings.Cut(mustReadPage(t, page), table)
		if !ok {
			t.Fatalf("docs/%s has no table %q", page, table)
		}
		text, _, _ = strings.Cut(text, "\n\n")
		for _, r := range row.FindAllStringSubmatch(text, -1) {
			group := ""
			for _, k := range key.FindAllStringSubmatch(r[1], -1) {
				name := k[1]
				if strings.HasPrefix(name, ".") {
					name = group + name
				}
				group, _, _ = strings.Cut(name, ".")
				found++
				source := "command: x\n"
				for i, part := range strings.Split(prefix+name, ".") {
					source += strings.Repeat("  ", i) + part + ":\n"
				}
				var raw map[string]any
				if err := yaml.Unmarshal([]byte(strings.Replace(source, "command: x\ncommand:\n", "command: x\n", 1)), &raw); err != nil {
					t.Fatal(err)
				}
				if _, notes, _ := setting.Parse("x", raw, setting.Vars{}); slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, part(name)) }) {
					t.Errorf("docs/%s, %s: %q", page, name, notes)
				}
			}
		}
	}
	check("mcp.md", "| key | what it does | default |\n", "")
	check("mcp-login.md", "| setting | meaning |\n", "")
	check("mcp-login.md", "| key of `oauth` | meaning |\n", "oauth.")
	if found < 40 {
		t.Errorf("%d keys were found", found)
	}
}

// part is the last part of a key.
func part(key string) string { return key[strings.LastIndex(key, ".")+1:] }

// TestFlagsOfTheManualExist: each flag that the text of these pages names is one of some command.
func TestFlagsOfTheManualExist(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, c := range tree(testRoot(Process{Getenv: noVariables})) {
		c.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
		c.InheritedFlags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	}
	found := 0
	for _, page := range pages {
		for _, m := range regexp.MustCompile("`--([a-z-]+)").FindAllStringSubmatch(fenced.ReplaceAllString(mustReadPage(t, page), ""), -1) {
			found++
			if !known[m[1]] {
				t.Errorf("docs/%s: there is no flag --%s", page, m[1])
			}
		}
	}
	if found < 15 {
		t.Errorf("%d flags were found", found)
	}
}
