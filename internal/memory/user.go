package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes"
)

// For returns the memory of a session. If each user has their own, it has that user's
// USER.md instead of the owner's. Without a user it is the owner's. MEMORY.md is the
// same for all.
func (b *File) For(s hermes.SessionRef) *File {
	if s.User == "" || !PerUser(s, b.cfg.PerUser) {
		return b
	}
	return b.of(s.Platform + ":" + s.User)
}

// The values of [hermes.PromptChoice.MemoryScope] and of the setting memory.scope.
const (
	ScopeUser   = "user"   // each user has their own memory
	ScopeShared = "shared" // all have the same
)

// PerUser reports whether each user has their own memory in a session. configured is what
// holds if the session says nothing.
func PerUser(s hermes.SessionRef, configured bool) bool {
	if s.MemoryScope == "" {
		return configured
	}
	return s.MemoryScope != ScopeShared
}

// CheckScope refuses a scope that does not exist: it would give users each other's memory.
func CheckScope(scope string) error {
	switch scope {
	case "", ScopeUser, ScopeShared:
		return nil
	}
	return fmt.Errorf("unknown memory scope %q; use %s or %s", scope, ScopeUser, ScopeShared)
}

// of returns the memory of the user with the name that Who returns.
func (b *File) of(who string) *File {
	if who == b.who {
		return b
	}
	return &File{cfg: b.cfg, who: who, shared: b.shared}
}

// Who returns whose USER.md this is, as platform:user; "" for the owner.
func (b *File) Who() string { return b.who }

// whoseIs returns Who for USER.md and "" for MEMORY.md, which all users share.
func (b *File) whoseIs(t Target) string {
	if t == User {
		return b.who
	}
	return ""
}

// nameOf returns the name of a target's file for the user.
func (b *File) nameOf(t Target) string {
	if who := b.whoseIs(t); who != "" {
		return t.file() + " of " + who
	}
	return t.file()
}

// whoFile is the file with the user's name in the user's folder.
const whoFile = ".who"

func (b *File) userNames() string { return filepath.Join(b.cfg.Dir, "users") }

// folder returns the folder of a target's file.
func (b *File) folder(t Target) string {
	if b.whoseIs(t) == "" {
		return b.cfg.Dir
	}
	return filepath.Join(b.userNames(), folderName(b.who))
}

// folderName turns any text into a folder name that is valid on every system
// and unique to the text.
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

// makeFolder creates the folder of a target and records its user in it.
func (b *File) makeFolder(t Target) error {
	dir := b.folder(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create the memory folder: %w", err)
	}
	if b.whoseIs(t) == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, whoFile), []byte(b.who+"\n"), 0o600)
}

// Users lists the users with their own USER.md, as platform:user, sorted.
func (b *File) Users() ([]string, error) {
	entries, err := os.ReadDir(b.userNames())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the users with memories: %w", err)
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

// OwnersOnly restricts the tools of a service to the owner where each user has their own
// memory, as configured or as a session says: they refuse sessions of other users.
func OwnersOnly(p hermes.MemoryProvider, perUser bool) hermes.MemoryProvider {
	return ownersOnly{p, perUser}
}

type ownersOnly struct {
	hermes.MemoryProvider
	perUser bool
}

func (o ownersOnly) Tools() []hermes.Tool {
	var out []hermes.Tool
	for _, t := range o.MemoryProvider.Tools() {
		out = append(out, ownersTool{t, o.perUser})
	}
	return out
}

type ownersTool struct {
	hermes.Tool
	perUser bool
}

func (t ownersTool) Run(ctx context.Context, c *hermes.Call) (hermes.Result, error) {
	if s := c.Host.Session(); s.User != "" && PerUser(s, t.perUser) {
		return hermes.Result{}, errors.New("this memory belongs to the owner; say what you need to know, or use the memory tool")
	}
	return t.Tool.Run(ctx, c)
}
