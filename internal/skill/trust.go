package skill

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// projectPaths are the folders in which a project may keep skills.
func projectPaths() []string {
	return []string{filepath.Join(".hermes", "skills"), filepath.Join(".agents", "skills")}
}

// ErrNoProject means that a folder has no skills to trust.
var ErrNoProject = errors.New("no skills in .hermes/skills or .agents/skills")

func (l *Library) trustFile() string { return filepath.Join(l.cfg.Home.Skills(), ".trusted.json") }

// projectFolders returns the project's skill folders, if the user trusted their
// present content. The caller holds memory.mu.
func (l *Library) projectFolders() []string {
	root, folders := projectRoot(l.project)
	if len(folders) == 0 {
		return nil
	}
	trusted := l.trusted()[root]
	if trusted == "" {
		return nil
	}
	if now, err := contentHash(folders); err != nil || now != trusted {
		return nil
	}
	return folders
}

// projectRoot finds the nearest folder with skills, from dir up to the top of the
// repository, and the skill folders in it.
func projectRoot(dir string) (root string, folders []string) {
	if dir == "" {
		return "", nil
	}
	for {
		for _, path := range projectPaths() {
			if st, err := os.Stat(filepath.Join(dir, path)); err == nil && st.IsDir() {
				folders = append(folders, filepath.Join(dir, path))
			}
		}
		if len(folders) > 0 {
			return dir, folders
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || filepath.Dir(dir) == dir {
			return "", nil
		}
		dir = filepath.Dir(dir)
	}
}

func (l *Library) trusted() map[string]string {
	all := map[string]string{}
	if raw, err := os.ReadFile(l.trustFile()); err == nil {
		_ = json.Unmarshal(raw, &all) // a broken file means that nothing is trusted
	}
	return all
}

// contentHash is the hash of every file in the folders, by path and content. A
// link is an error.
func contentHash(folders []string) (string, error) {
	sum := sha256.New()
	for _, folder := range folders {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return "", err
		}
		err = hashTree(sum, root)
		_ = root.Close()
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func hashTree(sum io.Writer, root *os.Root) error {
	total := 0
	return fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if d.Type()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a link; the skills of a project must be plain files", p)
		}
		raw, err := readBounded(root.FS(), p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if total++; total > 5000 {
			return errors.New("the skills of the project have too many files")
		}
		_, err = fmt.Fprintf(sum, "%s\x00%d\x00%s", p, len(raw), raw)
		return err
	})
}

// Project finds the skills of the project that a folder belongs to: its root, the
// skill folders, and whether their present content is trusted.
func (l *Library) Project(dir string) (root string, folders []string, trusted bool) {
	root, folders = projectRoot(dir)
	if len(folders) == 0 {
		return "", nil, false
	}
	now, err := contentHash(folders)
	return root, folders, err == nil && l.trusted()[root] == now
}

// Trust trusts the present content of a project's skills, or stops trusting it.
// After a change they must be trusted again.
func (l *Library) Trust(ctx context.Context, dir string, on bool) (root string, err error) {
	root, folders := projectRoot(dir)
	if len(folders) == 0 && on {
		return "", fmt.Errorf("%s: %w", dir, ErrNoProject)
	}
	if root == "" {
		root = strings.TrimRight(dir, string(filepath.Separator))
	}
	return root, l.changeJSON(ctx, l.trustFile(), func([]byte) (any, error) {
		all := l.trusted()
		delete(all, root)
		if !on {
			return all, nil
		}
		sum, err := contentHash(folders)
		all[root] = sum
		return all, err
	})
}
