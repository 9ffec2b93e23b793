package prompt

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes/internal/policy"
)

// maxChars is how much of a file is shown where nothing else is said.
const maxChars = 20_000

// project adds the notes of the project: one kind of file only, the first
// that is there and says something.
func (b *builder) project(ctx context.Context) {
	dir := b.Place.Dir
	if b.IgnoreRules || b.files.files == nil || dir == "" {
		return
	}
	here := b.names(ctx, dir)
	for _, look := range [...]func() []string{
		func() []string { return b.own(ctx, dir, here) },
		func() []string { return b.firstOf(ctx, dir, here, "AGENTS.md", "agents.md") },
		func() []string { return b.firstOf(ctx, dir, here, "CLAUDE.md", "claude.md") },
		func() []string { return b.cursor(ctx, dir, here) },
	} {
		if found := look(); len(found) > 0 {
			b.add("project", Context, text("project")+separator+strings.Join(found, separator))
			return
		}
	}
}

// names lists a folder; one that cannot be listed is empty.
func (b *builder) names(ctx context.Context, dir string) []string {
	names, err := b.files.List(ctx, dir)
	if err != nil && !isMissing(err) {
		b.warn(fmt.Sprintf("%s was not searched for project files: %v", dir, err))
	}
	return names
}

// own finds .hermes.md or HERMES.md in the folder or above it, up to the root
// of the git repository and not past it. Outside a repository only the folder
// itself counts.
func (b *builder) own(ctx context.Context, dir string, here []string) []string {
	const deepest = 64 // folders up to a repository's root
	type level struct {
		dir   string
		names []string
	}
	levels := []level{{dir, here}}
	for !slices.Contains(levels[len(levels)-1].names, ".git") {
		up := filepath.Dir(levels[len(levels)-1].dir)
		if up == levels[len(levels)-1].dir || len(levels) == deepest {
			levels = levels[:1]
			break
		}
		names, err := b.files.List(ctx, up)
		if err != nil { // such as a parent that is not ours to see
			levels = levels[:1]
			break
		}
		levels = append(levels, level{up, names})
	}
	for _, l := range levels {
		if found := b.firstOf(ctx, l.dir, l.names, ".hermes.md", "HERMES.md"); len(found) > 0 {
			return found
		}
	}
	return nil
}

// firstOf shows the first of the files that is there and not blank.
func (b *builder) firstOf(ctx context.Context, dir string, names []string, wanted ...string) []string {
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			continue
		}
		if shown := b.show(ctx, dir, name); shown != "" {
			return []string{shown}
		}
	}
	return nil
}

// cursor shows .cursorrules and the rules under .cursor.
func (b *builder) cursor(ctx context.Context, dir string, here []string) []string {
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
		if shown := b.show(ctx, dir, filepath.Join(".cursor", "rules", name)); shown != "" {
			found = append(found, shown)
		}
	}
	return found
}

// show is a file under a heading with its name, "" if it says nothing.
func (b *builder) show(ctx context.Context, dir, name string) string {
	raw, err := b.files.Read(ctx, filepath.Join(dir, name))
	if err != nil {
		b.warn(fmt.Sprintf("%s was not read: %v", name, err))
		return ""
	}
	shown, _ := b.admit(name, raw)
	if shown == "" {
		return ""
	}
	return "## " + oneLine(filepath.ToSlash(name)) + separator + shown
}

// admit makes a file's text fit for the prompt: without frontmatter, cut,
// scanned. What tries to give orders is replaced by a note that says so.
func (b *builder) admit(name string, raw []byte) (shown string, blocked bool) {
	content := strings.TrimSpace(withoutFrontmatter(strings.ToValidUTF8(strings.TrimPrefix(string(raw), "\ufeff"), "\ufffd")))
	if content == "" {
		return "", false
	}
	name = oneLine(filepath.ToSlash(name))
	limit := b.MaxChars
	if limit <= 0 {
		limit = maxChars
	}
	content = cutMiddle(name, content, limit)
	if pattern := policy.Injection(content); pattern != "" {
		b.warn(fmt.Sprintf("%s was left out of the prompt: it looks like a prompt injection (%s)", name, pattern))
		return fmt.Sprintf("[BLOCKED: %s contained a possible prompt injection (%s); its content was not loaded.]", name, pattern), true
	}
	return content, false
}

// withoutFrontmatter drops a YAML block at the start. One that never ends, or
// after which nothing follows, is no frontmatter.
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

// cutMiddle keeps 70 % of the limit from the head and 20 % from the tail.
func cutMiddle(name, content string, limit int) string {
	count := utf8.RuneCountInString(content)
	if count <= limit {
		return content
	}
	runes := []rune(content)
	head, tail := limit*7/10, limit*2/10
	return string(runes[:head]) +
		fmt.Sprintf("\n\n[… %s was cut: the first %d and the last %d of its %d characters are shown; read_file shows the rest …]\n\n", name, head, tail, count) +
		string(runes[count-tail:])
}
