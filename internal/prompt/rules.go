package prompt

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/policy"
	"hermes/internal/text"
)

// maxChars is the default limit of characters shown per file.
const maxChars = 20_000

// project adds the notes of the project: only one kind of file, the first that
// exists and is not blank.
func (b *builder) project(ctx context.Context) {
	dir := b.Environment.Dir
	if b.IgnoreRules || b.files.files == nil || dir == "" {
		return
	}
	here := b.names(ctx, dir)
	levels := b.levels(ctx, dir, here)
	b.root = levels[len(levels)-1].dir
	for _, look := range [...]func() notes{
		func() notes { return b.own(ctx, levels) },
		func() notes { return b.firstOf(ctx, dir, here, "AGENTS.md", "agents.md") },
		func() notes { return b.firstOf(ctx, dir, here, "CLAUDE.md", "claude.md") },
		func() notes { return b.cursor(ctx, dir, here) },
	} {
		if found := look(); len(found) > 0 {
			b.put([]Section{{Name: "project", Tier: Context, Text: found.each(b.maxChars()), Shorten: found.within, Provenance: found.provenance()}})
			return
		}
	}
}

// names lists a folder; it warns and returns nothing if that fails.
func (b *builder) names(ctx context.Context, dir string) []string {
	names, err := b.files.List(ctx, dir)
	if err != nil && !isMissing(err) {
		b.warn(fmt.Sprintf("%s was not searched for project files: %v", dir, err))
	}
	return names
}

// level is a folder of the project and the names in it.
type level struct {
	dir   string
	names []string
}

// levels are the folder and its parents, up to the root of the git repository.
// Outside a repository it is only the folder.
func (b *builder) levels(ctx context.Context, dir string, here []string) []level {
	const deepest = 64 // folders up to a repository's root
	levels := []level{{dir, here}}
	for !slices.Contains(levels[len(levels)-1].names, ".git") {
		up := filepath.Dir(levels[len(levels)-1].dir)
		if up == levels[len(levels)-1].dir || len(levels) == deepest {
			return levels[:1]
		}
		names, err := b.files.List(ctx, up)
		if err != nil { // such as a parent without read permission
			return levels[:1]
		}
		levels = append(levels, level{up, names})
	}
	return levels
}

// own finds .hermes.md or HERMES.md in the nearest folder that has one.
func (b *builder) own(ctx context.Context, levels []level) notes {
	for _, l := range levels {
		if found := b.firstOf(ctx, l.dir, l.names, ".hermes.md", "HERMES.md"); len(found) > 0 {
			return found
		}
	}
	return nil
}

// firstOf returns the first of the files that exists and is not blank.
func (b *builder) firstOf(ctx context.Context, dir string, names []string, wanted ...string) notes {
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			continue
		}
		if n := b.read(ctx, dir, name); n.content != "" {
			return notes{n}
		}
	}
	return nil
}

// cursor returns .cursorrules and the rules under .cursor.
func (b *builder) cursor(ctx context.Context, dir string, here []string) notes {
	found := b.firstOf(ctx, dir, here, ".cursorrules")
	if !slices.Contains(here, ".cursor") {
		return found
	}
	rules, err := b.files.List(ctx, filepath.Join(dir, ".cursor", "rules"))
	if err != nil {
		return found
	}
	slices.Sort(rules)
	for _, name := range rules {
		if filepath.Ext(name) != ".mdc" {
			continue
		}
		if n := b.read(ctx, dir, filepath.Join(".cursor", "rules", name)); n.content != "" {
			found = append(found, n)
		}
	}
	return found
}

// read reads a file; it warns and returns an empty note if that fails.
func (b *builder) read(ctx context.Context, dir, name string) note {
	raw, err := b.files.Read(ctx, b.root, filepath.Join(dir, name))
	if err != nil {
		b.warn(fmt.Sprintf("%s was not read: %v", name, err))
		return note{}
	}
	return b.admit(name, raw)
}

// admit prepares a file's text for the prompt: it drops frontmatter, hides
// secrets, and scans the part that is shown. A prompt injection is replaced by a remark.
func (b *builder) admit(name string, raw []byte) note {
	content := strings.TrimSpace(withoutFrontmatter(strings.ToValidUTF8(strings.TrimPrefix(string(raw), "\ufeff"), "\ufffd")))
	if b.Redact != nil {
		content = b.Redact(content)
	}
	n := note{name: text.OneLine(filepath.ToSlash(name), longestName), content: content}
	if content == "" {
		return n
	}
	if pattern := policy.Injection(n.within(b.maxChars())); pattern != "" {
		b.warn(fmt.Sprintf("%s was left out of the prompt: it looks like a prompt injection (%s)", n.name, pattern))
		n.content = fmt.Sprintf("[BLOCKED: %s contained a possible prompt injection (%s); its content was not loaded.]", n.name, pattern)
		n.blocked = true
	}
	return n
}

func (b *builder) maxChars() int {
	if b.MaxChars > 0 {
		return b.MaxChars
	}
	return maxChars
}

// withoutFrontmatter drops a YAML block at the start. A block that never ends,
// or that nothing follows, is not frontmatter.
func withoutFrontmatter(content string) string {
	content = strings.ReplaceAll(content, "\r\n", "\n")
	rest, ok := strings.CutPrefix(content, "---\n")
	if !ok {
		return content
	}
	body := ""
	if after, empty := strings.CutPrefix(rest, "---\n"); empty {
		body = after
	} else if _, after, closed := strings.Cut(rest, "\n---\n"); closed {
		body = after
	}
	if strings.TrimSpace(body) == "" {
		return content
	}
	return body
}
