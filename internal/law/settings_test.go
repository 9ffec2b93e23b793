package law_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hermes/internal/config"
)

// key is one setting: the fields that lead to it, from config.Settings down.
type key struct {
	name    string // dotted; * for the names in a map
	section string // its first part
	fields  []field
	planned string // the nearest tag planned on the way
	test    string // the nearest tag test on the way
}

// field is a field of a struct, by the names of both.
type field struct{ owner, name string }

// keysBelow lists the settings of a struct type, in the order of its fields. Keys of a map
// without fixed names count as one setting.
func keysBelow(t reflect.Type, at key) []key {
	var all []key
	for i := range t.NumField() {
		sf, k := t.Field(i), at
		k.fields = append(slices.Clip(at.fields), field{t.Name(), sf.Name})
		k.planned = cmp.Or(sf.Tag.Get("planned"), at.planned)
		k.test = cmp.Or(sf.Tag.Get("test"), at.test)
		if sf.Anonymous {
			k.fields = at.fields // its keys belong to the struct around it
			all = append(all, keysBelow(sf.Type, k)...)
			continue
		}
		k.name = strings.TrimPrefix(at.name+"."+sf.Tag.Get("key"), ".")
		k.section, _, _ = strings.Cut(k.name, ".")
		inner := sf.Type
		for inner.Kind() == reflect.Map || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			all = append(all, keysBelow(inner, k)...)
			continue
		}
		all = append(all, k)
	}
	return all
}

// settingsKeys lists every setting.
func settingsKeys() []key { return keysBelow(reflect.TypeFor[config.Settings](), key{}) }

// wrongKeys checks what the tags of settings promise against what the program reads.
func wrongKeys(keys []key, read map[field]bool) []string {
	known := map[string]bool{}
	for _, c := range config.Capabilities() {
		known[c.Name] = true
	}
	var faults []string
	for _, k := range keys {
		unread := slices.IndexFunc(k.fields, func(f field) bool { return !read[f] })
		switch {
		case k.planned == "" && unread >= 0:
			faults = append(faults, fmt.Sprintf("%s is live, but no code outside internal/config reads it (%s.%s): wire it, "+
				"or name in its tag planned what it waits for", k.name, k.fields[unread].owner, k.fields[unread].name))
		case k.planned != "" && unread < 0:
			faults = append(faults, fmt.Sprintf("%s is planned (%q), but the program reads it: remove the tag planned", k.name, k.planned))
		case k.planned != "" && !known[k.planned]:
			faults = append(faults, fmt.Sprintf("%s waits for %q, which is not in the list of capabilities in internal/config/planned.go", k.name, k.planned))
		}
	}
	return faults
}

func TestEveryLiveSettingIsRead(t *testing.T) {
	t.Parallel()
	for _, fault := range wrongKeys(settingsKeys(), fieldsRead(t)) {
		t.Error(fault)
	}
}

// TestCapabilitiesAreStillMissing fails when the package of a capability is there: then its
// planned settings have to be live.
func TestCapabilitiesAreStillMissing(t *testing.T) {
	t.Parallel()
	used := map[string]bool{"side tasks": true} // of tables, not of tags
	for _, k := range settingsKeys() {
		used[k.planned] = true
	}
	all := config.Capabilities()
	if !slices.IsSortedFunc(all, func(a, b config.Capability) int { return cmp.Compare(a.Name, b.Name) }) {
		t.Error("the capabilities in internal/config/planned.go are not sorted by name")
	}
	tasks := map[string]bool{}
	for _, task := range []string{"vision", "mcp", "review", "goal_judge", "curator"} {
		c, _ := config.Planned("auxiliary", task, "model")
		tasks[c.Name] = true
	}
	for _, c := range all {
		if c.Package != "" && mustTree(t).find(c.Package) != nil {
			t.Errorf("%s exists: make the settings that are planned for %q live, and remove the capability", c.Package, c.Name)
		}
		if !used[c.Name] && !tasks[c.Name] {
			t.Errorf("no setting waits for %q: remove it from internal/config/planned.go", c.Name)
		}
	}
}

// safety lists the sections whose live keys name the test that shows their effect.
var safety = []string{"approvals", "security", "spend", "privacy"}

// TestSafetySettingsAreProven has the test of every live key of these sections: it exists, in
// a package that runs the real composition, and its file writes the key.
func TestSafetySettingsAreProven(t *testing.T) {
	t.Parallel()
	for _, k := range settingsKeys() {
		if k.planned != "" || !slices.Contains(safety, k.section) {
			continue
		}
		if fault := withoutProof(mustRoot(t), k); fault != "" {
			t.Errorf("%s: %s", k.name, fault)
		}
	}
}

// withoutProof says what is wrong with the tag test of a key, or "".
func withoutProof(root string, k key) string {
	folder, name, ok := cutLast(k.test, ".")
	switch {
	case k.test == "":
		return "name in its tag test the test that shows its effect, as in internal/app.TestName"
	case !ok || !composes(folder):
		return fmt.Sprintf("the test %q has to be in internal/app or below internal/cmd, which run the real composition", k.test)
	}
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*_test.go"))
	if err != nil {
		return err.Error()
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			return err.Error()
		}
		if !strings.Contains(string(src), "\nfunc "+name+"(t *testing.T)") {
			continue
		}
		last := k.name[strings.LastIndex(k.name, ".")+1:]
		if !regexp.MustCompile(`\b` + last + `\b`).Match(src) {
			return fmt.Sprintf("the file of %s does not mention %s", k.test, last)
		}
		return ""
	}
	return fmt.Sprintf("there is no test %s", k.test)
}

// composes reports whether the tests of a package run the real composition.
func composes(folder string) bool {
	return folder == "internal/app" || folder == "internal/cmd" || strings.HasPrefix(folder, "internal/cmd/")
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// TestSettingsLawSeesFaults checks the checks: a made-up struct with one key of every kind, and
// a made-up reader that selects some of its fields.
func TestSettingsLawSeesFaults(t *testing.T) {
	t.Parallel()
	type inner struct {
		Used   int `key:"used"`
		Unused int `key:"unused"`
	}
	type outer struct {
		Live    inner            `key:"live"`
		Many    map[string]inner `key:"many"`
		Later   inner            `key:"later" planned:"gateway"`
		Early   int              `key:"early" planned:"gateway"`
		Unnamed int              `key:"unnamed" planned:"anything"`
	}
	read := map[field]bool{{"outer", "Live"}: true, {"inner", "Used"}: true, {"outer", "Early"}: true}
	got := wrongKeys(keysBelow(reflect.TypeFor[outer](), key{}), read)
	for i, fault := range got {
		got[i], _, _ = strings.Cut(fault, ",")
	}
	want := []string{"live.unused is live", "many.used is live", "many.unused is live", `early is planned ("gateway")`, `unnamed waits for "anything"`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, k := range []key{
		{name: "spend.turn"}, {name: "spend.turn", test: "internal/spend.TestX"},
		{name: "spend.turn", test: "internal/app.TestThatDoesNotExist"},
		{name: "spend.unheard_of", test: "internal/app.TestAnEndlessModelIsStopped"},
	} {
		if withoutProof(mustRoot(t), k) == "" {
			t.Errorf("%+v: no fault", k)
		}
	}
}

// TestFieldsReadAreSeen checks the walk on made-up source: a field that is read, one that is
// only written, one that is not used, one through a method, and a map.
func TestFieldsReadAreSeen(t *testing.T) {
	t.Parallel()
	w := newSettingsWalk(t)
	w.check("sample", map[string]string{"sample.go": `package sample

import "hermes/internal/config"

func read(c *config.Config) (int, []int) {
	a := c.Agent()
	a.APIMaxRetries = 3
	for _, p := range c.Providers() {
		_ = p.BaseURL
	}
	return int(c.Agent().MaxTurns), c.Spend().Percentages()
}
`})
	got := w.fields()
	for f, want := range map[field]bool{
		{"Settings", "Agent"}: true, {"Agent", "MaxTurns"}: true, {"Agent", "APIMaxRetries"}: false, {"Agent", "SystemPrompt"}: false,
		{"Settings", "Providers"}: true, {"Provider", "BaseURL"}: true, {"Provider", "KeyEnv"}: false,
		{"Settings", "Spend"}: true, {"Spend", "WarnAt"}: true, {"Spend", "Turn"}: false,
		{"Settings", "Memory"}: false,
	} {
		if got[f] != want {
			t.Errorf("%v: got %v, want %v; all: %v", f, got[f], want, slices.Collect(maps.Keys(got)))
		}
	}
}
