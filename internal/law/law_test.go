package law_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"hermes/internal/race"
)

// TestMain skips these tests where the race detector is on: they only read files.
func TestMain(m *testing.M) {
	if race.Enabled {
		return
	}
	os.Exit(m.Run())
}

// position is where a package is in the table: its layer, and its row in the layer.
type position struct{ layer, row int }

func (p position) below(q position) bool {
	return p.layer < q.layer || p.layer == q.layer && p.row < q.row
}

// positionOf looks a package up in the table.
func positionOf(folder string) (position, bool) {
	if noun, ok := strings.CutPrefix(folder, strings.TrimSuffix(nouns, "*")); ok && noun != "factory" {
		folder = nouns
	}
	for _, l := range layers {
		for i, rows := range l.rows {
			if slices.ContainsFunc(rows, func(r row) bool { return r.path == folder }) {
				return position{l.number, i}, true
			}
		}
	}
	return position{}, false
}

func TestEveryPackageHasALayer(t *testing.T) {
	t.Parallel()
	for _, p := range mustTree(t).pkgs {
		if _, ok := positionOf(p.path); !ok {
			t.Errorf("%s has no layer: add a row for it to the table in internal/law/layers_test.go", p.path)
		}
	}
}

func TestEveryRowHasAPackage(t *testing.T) {
	t.Parallel()
	tree := mustTree(t)
	seen := map[string]bool{}
	for number, l := range layers {
		if l.number != number {
			t.Errorf("layer %d is at position %d of the table in internal/law/layers_test.go", l.number, number)
		}
		for _, rows := range l.rows {
			if !slices.IsSortedFunc(rows, func(a, b row) int { return strings.Compare(a.path, b.path) }) {
				t.Errorf("layer %d of the table in internal/law/layers_test.go is not sorted by path", number)
			}
			for _, r := range rows {
				if seen[r.path] {
					t.Errorf("%s is in the table in internal/law/layers_test.go twice", r.path)
				}
				seen[r.path] = true
				checkRow(t, tree, r)
			}
		}
	}
}

func checkRow(t *testing.T, tree *moduleTree, r row) {
	t.Helper()
	if r.path == nouns {
		return
	}
	p := tree.find(r.path)
	if p == nil {
		t.Errorf("%s has a row but no Go file: remove the row from internal/law/layers_test.go", r.path)
		return
	}
	for _, dep := range r.deps {
		used := slices.ContainsFunc(p.imports(), func(name string) bool { return name == dep || strings.HasPrefix(name, dep+"/") })
		if !used {
			t.Errorf("%s does not import %s: remove it from its row", r.path, dep)
		}
	}
}

func TestImportsGoToALowerLayer(t *testing.T) {
	t.Parallel()
	for _, fault := range wrongImports(mustTree(t)) {
		t.Error(fault)
	}
}

// wrongImports checks the layers, and the narrower rules for single layers.
func wrongImports(tree *moduleTree) []string {
	var faults []string
	for _, p := range tree.pkgs {
		if _, ok := positionOf(p.path); !ok {
			continue // TestEveryPackageHasALayer reports it
		}
		for _, name := range p.imports() {
			folder, ours := inModule(name)
			if !ours {
				continue
			}
			if reason := forbidden(p.path, folder); reason != "" {
				faults = append(faults, p.path+" imports "+folder+": "+reason)
			}
		}
	}
	return faults
}

// forbidden says why a package must not import another one of this module, or "".
func forbidden(fromPath, toPath string) string {
	from, _ := positionOf(fromPath)
	to, ok := positionOf(toPath)
	switch {
	case !ok:
		return ""
	case from.below(to):
		return "an import must point to a lower layer"
	case from == to:
		return "packages of one row do not know each other"
	case from.layer == 1 && to.layer == 0 && fromPath != "hermestest" && !strings.HasPrefix(fromPath, "hermestest/"):
		return "a library does not know what Hermes is"
	case from.layer == 2 && to.layer == 2 && environmentBase(toPath) && strings.HasPrefix(fromPath, "internal/environment"):
		return ""
	case from.layer == 2 && to.layer == 2 && ofBundled(fromPath, toPath):
		return ""
	case from.layer == 2 && to.layer == 2 && !(shared(toPath) && strings.HasPrefix(fromPath, strings.TrimSuffix(toPath, "base"))):
		return "a component imports the core and libraries only"
	case frontend(fromPath) && to.layer > 1 && toPath != "internal/command" && toPath != "internal/protocol" && !strings.HasPrefix(toPath, fromPath+"/"):
		return "a frontend reaches the agent through internal/protocol only"
	case toPath == "internal/config" && from.layer < 7:
		return "only app, setup and cmd read the configuration"
	case implementation(toPath) && !names(fromPath, toPath):
		return "only internal/app names implementations (provider names the transports)"
	}
	return ""
}

// frontend reports whether a package talks to users or programs.
func frontend(folder string) bool {
	p, _ := positionOf(folder)
	return p.layer == 6
}

// environmentBase reports whether a package is what environments share: with the walls around
// their commands, with each other, or among rented sandboxes.
func environmentBase(folder string) bool {
	return folder == "internal/isolation" || folder == "internal/environment/remote" || folder == "internal/environment/rented"
}

// ofBundled reports whether a package may import another one because of the plugins that come along: each
// of them what all share, and their list all of them.
func ofBundled(fromPath, toPath string) bool {
	const list = "internal/plugin/bundled"
	base := slices.Contains([]string{list + "/found", list + "/login", list + "/rest", list + "/typed"}, toPath)
	return strings.HasPrefix(fromPath, list+"/") && base || fromPath == list && strings.HasPrefix(toPath, list+"/")
}

// transportBase is what all transports share. It is not a transport itself.
const transportBase = "internal/transport/base"

// shared reports whether a component is the base of others: transports, memory services, or
// database engines and their suite.
func shared(folder string) bool {
	return folder == transportBase || folder == "internal/memory/external" || folder == "internal/store"
}

// implementation reports whether a folder holds one implementation of an interface that has
// several.
func implementation(folder string) bool {
	if folder == transportBase {
		return false
	}
	return folder == "internal/environment" || slices.ContainsFunc(
		[]string{"internal/tool/", "internal/transport/", "internal/hook/", "internal/memory/external/", "internal/platform/", "internal/store/"},
		func(prefix string) bool { return strings.HasPrefix(folder, prefix) },
	)
}

// names reports whether a package may name this implementation.
func names(fromPath, toPath string) bool {
	switch fromPath {
	case "internal/app", "internal/setup":
		return true
	case "internal/provider":
		return strings.HasPrefix(toPath, "internal/transport/")
	case "internal/confine":
		return toPath == "internal/environment" // whose commands it puts behind walls
	}
	return false
}

func TestLibrariesUseTheStandardLibrary(t *testing.T) {
	t.Parallel()
	tree := mustTree(t)
	for _, r := range slices.Concat(layers[1].rows...) {
		p := tree.find(r.path)
		if p == nil {
			continue
		}
		for _, name := range p.imports() {
			allowed := slices.ContainsFunc(r.deps, func(dep string) bool {
				return name == dep || strings.HasPrefix(name, dep+"/")
			})
			if thirdParty(name) && !allowed {
				t.Errorf("%s imports %s: a library may import only the standard library; if it needs this module, add it to its row", r.path, name)
			}
		}
	}
}
