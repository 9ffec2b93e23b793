package plugin

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/plugin/sdk"
)

//go:embed templates
var templates embed.FS

// languages are the folders of the templates by what people call them.
var languages = map[string]string{"go": "go", "python": "python", "typescript": "typescript", "javascript": "typescript"}

// Languages lists those in which Create writes a plugin, sorted.
func Languages() []string { return slices.Sorted(maps.Keys(languages)) }

// Create writes a new plugin with one tool and one hook into a new folder. Its tools are named after
// it. It returns the names of the files, sorted.
func Create(dir, name, language string) (files []string, err error) {
	from, ok := languages[language]
	if !ok {
		return nil, fmt.Errorf("there is no template for %q; there are %s", language, strings.Join(Languages(), ", "))
	}
	if !ValidName(name) {
		return nil, fmt.Errorf("the name %q cannot be used; take lower-case letters, digits and -, 40 at most, a letter first", name)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("%s exists already; choose another folder", dir)
		}
		return nil, err
	}
	root := path.Join("templates", from)
	entries, err := templates.ReadDir(root)
	if err != nil {
		return nil, err
	}
	fill := strings.NewReplacer("NAME", name, "PREFIX", strings.ReplaceAll(name, "-", "_"))
	for _, e := range entries {
		data, err := templates.ReadFile(path.Join(root, e.Name()))
		if err != nil {
			return nil, err
		}
		text := string(data)
		if !strings.HasPrefix(e.Name(), "hermes_plugin") {
			text = fill.Replace(text)
		}
		file := strings.TrimSuffix(e.Name(), ".txt") // which keeps Go files out of this program
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if from == "go" {
		const file = "hermes_plugin.go"
		if err := os.WriteFile(filepath.Join(dir, file), []byte(sdk.Source("main")), 0o644); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	slices.Sort(files)
	return files, nil
}
