package law_test

import (
	"slices"
	"strings"
	"testing"
)

// layerOf looks a package up in the table.
func layerOf(folder string) (int, bool) {
	for _, r := range layers {
		if r.path == folder {
			return r.layer, true
		}
	}
	if strings.HasPrefix(folder, "internal/cmd/") {
		return nouns, true
	}
	return 0, false
}

func TestEveryPackageHasALayer(t *testing.T) {
	t.Parallel()
	for _, p := range mustTree(t).pkgs {
		if _, ok := layerOf(p.path); !ok {
			t.Errorf("%s has no layer: add a row for it to the table in internal/law/layers_test.go", p.path)
		}
	}
}

func TestEveryRowHasAPackage(t *testing.T) {
	t.Parallel()
	h := mustTree(t)
	seen := map[string]bool{}
	for _, r := range layers {
		if seen[r.path] {
			t.Errorf("%s stands twice in the table in internal/law/layers_test.go", r.path)
		}
		seen[r.path] = true
		p := h.find(r.path)
		if p == nil {
			t.Errorf("%s has a row but no Go file: take the row out of internal/law/layers_test.go", r.path)
			continue
		}
		for _, dep := range r.deps {
			used := slices.ContainsFunc(p.imports(), func(name string) bool { return name == dep || strings.HasPrefix(name, dep+"/") })
			if !used {
				t.Errorf("%s does not import %s: take it out of its row", r.path, dep)
			}
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
func wrongImports(h *moduleTree) []string {
	var faults []string
	for _, p := range h.pkgs {
		from, ok := layerOf(p.path)
		if !ok {
			continue // TestEveryPackageHasALayer says so
		}
		for _, name := range p.imports() {
			folder, ours := inside(name)
			if !ours {
				continue
			}
			to, ok := layerOf(folder)
			if !ok {
				continue
			}
			if reason := forbidden(p.path, from, folder, to); reason != "" {
				faults = append(faults, p.path+" imports "+folder+": "+reason)
			}
		}
	}
	return faults
}

// forbidden says why a package must not import another one of this module, or "".
func forbidden(fromPath string, from int, toPath string, to int) string {
	switch {
	case to > from:
		return "an import must point to a lower layer"
	case to == from && !(toPath == transportBase && strings.HasPrefix(fromPath, "internal/transport/")):
		return "packages on one layer do not know each other"
	case from == 1 && fromPath != "hermestest":
		return "an instrument does not know what Hermes is"
	case from == 5 && to > 1 && toPath != "internal/session" && toPath != "internal/command":
		return "a face reaches the agent through internal/session only"
	case toPath == "internal/config" && from < 6:
		return "only app, setup and cmd read the configuration"
	case implementation(toPath) && !names(fromPath, toPath):
		return "only internal/app names implementations (provider names the transports)"
	}
	return ""
}

// transportBase is what all transports share; it is none itself.
const transportBase = "internal/transport/base"

// implementation reports whether a folder holds one body of a seam that has several.
func implementation(folder string) bool {
	if folder == transportBase {
		return false
	}
	return folder == "internal/environment" || slices.ContainsFunc(
		[]string{"internal/tool/", "internal/transport/", "internal/hook/", "internal/platform/", "internal/store/"},
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
	}
	return false
}

func TestInstrumentsUseTheStandardLibrary(t *testing.T) {
	t.Parallel()
	h := mustTree(t)
	for _, r := range layers {
		if r.layer != 1 {
			continue
		}
		p := h.find(r.path)
		if p == nil {
			continue
		}
		for _, name := range p.imports() {
			allowed := slices.ContainsFunc(r.deps, func(dep string) bool {
				return name == dep || strings.HasPrefix(name, dep+"/")
			})
			if outside(name) && !allowed {
				t.Errorf("%s imports %s: an instrument needs the standard library alone; a dependency it cannot do without is named in its row", r.path, name)
			}
		}
	}
}
