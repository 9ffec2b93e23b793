package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// For is the book as a person sees it who speaks on a platform: where each has
// a USER.md of their own, that one is in the place of the owner's. Without a
// user it is the owner's. MEMORY.md is the same for all.
func (b *File) For(platform, user string) *File {
	if !b.cfg.PerUser || user == "" {
		return b
	}
	return b.of(platform + ":" + user)
}

// of is the book of a person by the name that Who gives.
func (b *File) of(who string) *File {
	if who == b.who {
		return b
	}
	return &File{cfg: b.cfg, who: who, shared: b.shared}
}

// Who names whose USER.md the book holds, as platform:user; it is empty for
// the owner's.
func (b *File) Who() string { return b.who }

// whoseIs is Who for the target that people have of their own.
func (b *File) whoseIs(t Target) string {
	if t == User {
		return b.who
	}
	return ""
}

// nameOf names the file of a target, for the person.
func (b *File) nameOf(t Target) string {
	if who := b.whoseIs(t); who != "" {
		return t.file() + " of " + who
	}
	return t.file()
}

// whoFile holds the name of the person whose folder it lies in.
const whoFile = ".who"

func (b *File) userNames() string { return filepath.Join(b.cfg.Dir, "users") }

// folder is where the file of a target lies.
func (b *File) folder(t Target) string {
	if b.whoseIs(t) == "" {
		return b.cfg.Dir
	}
	return filepath.Join(b.userNames(), folderName(b.who))
}

// folderName makes a name of any text that is one folder on every system, and
// another one for another text.
func folderName(who string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(who))
	sum := sha256.Sum256([]byte(who))
	return plain[:min(len(plain), 40)] + "-" + hex.EncodeToString(sum[:6])
}

// makeFolder makes the folder of a target and notes in it whose it is.
func (b *File) makeFolder(t Target) error {
	dir := b.folder(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of memories: %w", err)
	}
	if b.whoseIs(t) == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, whoFile), []byte(b.who+"\n"), 0o600)
}

// Users lists who has a USER.md of their own, as platform:user, sorted.
func (b *File) Users() ([]string, error) {
	entries, err := os.ReadDir(b.userNames())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list whose memories there are: %w", err)
	}
	var out []string
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(b.userNames(), e.Name(), whoFile))
		if who := strings.TrimSpace(string(raw)); err == nil && who != "" {
			out = append(out, who)
		}
	}
	slices.Sort(out)
	return out, nil
}
