package skill

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/yamledit"
)

// Limits of a skill.
const (
	maxName        = 64
	maxDescription = 1024      // characters
	maxMain        = 100_000   // bytes of SKILL.md
	maxFile        = 1_000_000 // bytes of any other file
	mainFile       = "SKILL.md"
)

// Meta is the frontmatter of a SKILL.md.
type Meta struct {
	Name, Description        string
	Version, Author, License string
	Category                 string
	Tags, Related            []string
	// Platforms are macos, linux, windows; none means all.
	Platforms []string
	// Requires and Fallback name tools and toolsets. A skill is offered only if a
	// session has all that it requires and none that it is a fallback for.
	RequiresTools, RequiresToolsets []string
	FallbackTools, FallbackToolsets []string
	Env                             []hermes.SkillVariable
	Credentials                     []string // files that it needs
	AllowedTools                    []string
	Servers                         []string // MCP servers that it uses, by name
}

// Parse reads a SKILL.md and checks it: closed frontmatter with a name and a
// description, then a body. The error says what to fix.
func Parse(text []byte) (Meta, string, error) {
	if len(text) > maxMain {
		return Meta{}, "", fmt.Errorf("SKILL.md has %d bytes, the limit is %d; move details to files under references/", len(text), maxMain)
	}
	head, body, err := split(text)
	if err != nil {
		return Meta{}, "", err
	}
	doc, err := yamledit.Parse(head)
	if err != nil {
		return Meta{}, "", fmt.Errorf("the frontmatter is not valid YAML: %w", err)
	}
	value, err := yamledit.Value(doc.Root())
	if err != nil {
		return Meta{}, "", fmt.Errorf("read the frontmatter: %w", err)
	}
	fields, ok := value.(map[string]any)
	if !ok {
		return Meta{}, "", errors.New("the frontmatter must be lines of key: value, with name and description")
	}
	for _, key := range []string{"name", "description", "version"} { // as written: a skill may be named off or 1.0
		if n := doc.Find(key); n != nil && len(n.Content) == 0 && n.Alias == nil && n.ShortTag() != "!!null" {
			fields[key] = n.Value
		}
	}
	m := meta(fields)
	if err := m.check(fields); err != nil {
		return m, "", err
	}
	if strings.TrimSpace(body) == "" {
		return m, "", errors.New("the skill has no body: write the instructions below the frontmatter")
	}
	return m, body, nil
}

// split separates the frontmatter from the body.
func split(text []byte) (head []byte, body string, err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	rest, ok := cutLine(text, "---")
	if !ok {
		return nil, "", errors.New("SKILL.md must begin with a line --- and the frontmatter (name, description)")
	}
	for at := 0; at < len(rest); {
		if after, ok := cutLine(rest[at:], "---"); ok {
			return rest[:at], string(after), nil
		}
		end := bytes.IndexByte(rest[at:], '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	return nil, "", errors.New("the frontmatter is not closed: add a line --- below it")
}

// cutLine removes the first line if it is exactly this one.
func cutLine(text []byte, line string) ([]byte, bool) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	return rest, string(bytes.TrimRight(first, " \t\r")) == line
}

func meta(f map[string]any) Meta {
	md, _ := f["metadata"].(map[string]any)
	own, _ := md["hermes"].(map[string]any)
	m := Meta{
		Name: text(f["name"]), Description: strings.TrimSpace(text(f["description"])),
		Version: text(either(f, md, "version")), Author: text(either(f, md, "author")), License: text(f["license"]),
		Category: text(own["category"]), Tags: list(own["tags"]), Related: list(own["related_skills"]),
		Platforms:     list(f["platforms"]),
		RequiresTools: list(own["requires_tools"]), RequiresToolsets: list(own["requires_toolsets"]),
		FallbackTools: list(own["fallback_for_tools"]), FallbackToolsets: list(own["fallback_for_toolsets"]),
		AllowedTools: list(f["allowed-tools"]),
	}
	if m.Servers = list(f["required_mcp_servers"]); m.Servers == nil {
		m.Servers = list(own["mcp_servers"])
	}
	if m.Tags == nil {
		m.Tags = list(f["tags"])
	}
	m.Env = variables(f["required_environment_variables"])
	credentials, _ := f["required_credential_files"].([]any)
	for _, c := range credentials {
		if entry, ok := c.(map[string]any); ok {
			c = entry["path"]
		}
		if p := text(c); p != "" {
			m.Credentials = append(m.Credentials, p)
		}
	}
	for i, p := range m.Platforms {
		m.Platforms[i] = platform(p)
	}
	return m
}

func (m Meta) check(fields map[string]any) error {
	if _, isText := fields["name"].(string); fields["name"] == nil || !isText && m.Name == "" {
		return errors.New("the frontmatter has no name")
	}
	if err := CheckName(m.Name); err != nil {
		return err
	}
	if m.Description == "" {
		return errors.New("the frontmatter has no description: say in one sentence what the skill does and when to use it")
	}
	if n := len([]rune(m.Description)); n > maxDescription {
		return fmt.Errorf("the description has %d characters; the limit is %d", n, maxDescription)
	}
	return nil
}

func either(a, b map[string]any, key string) any {
	if v, ok := a[key]; ok {
		return v
	}
	return b[key]
}

func text(v any) string {
	switch v := v.(type) {
	case nil, []any, map[string]any:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// list reads a list of strings, or one string with commas or spaces.
func list(v any) []string {
	var out []string
	switch v := v.(type) {
	case string:
		for _, s := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' }) {
			out = append(out, strings.Trim(s, "[]"))
		}
	case []any:
		for _, e := range v {
			if s := text(e); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

func variables(v any) []hermes.SkillVariable {
	var out []hermes.SkillVariable
	entries, _ := v.([]any)
	for _, e := range entries {
		f, ok := e.(map[string]any)
		if !ok {
			f = map[string]any{"name": e}
		}
		if name := text(f["name"]); validVariable(name) {
			out = append(out, hermes.SkillVariable{Name: name, Prompt: text(f["prompt"]), Help: text(f["help"]), For: text(f["required_for"])})
		}
	}
	return out
}

func validVariable(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 128
}

// platform converts the name of a system to the one that skills use.
func platform(name string) string {
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "darwin", "mac", "osx":
		return "macos"
	case "win32", "win":
		return "windows"
	}
	return name
}

// CheckName reports what is wrong with the name of a skill.
func CheckName(name string) error {
	if validName(name) {
		return nil
	}
	return fmt.Errorf("invalid skill name %q: use at most %[2]d lower-case letters, digits, dots, underscores and hyphens, and begin with a letter or digit", name, maxName)
}

func validName(name string) bool { return plainSegment(name) && len(name) <= maxName }

// CheckCategory reports what is wrong with a category; "" is valid.
func CheckCategory(name string) error {
	if name == "" || plainSegment(name) && len(name) <= maxName {
		return nil
	}
	return fmt.Errorf("invalid category %q: use one word such as devops, without slashes", name)
}

func plainSegment(s string) bool {
	for i, r := range s {
		alnum := r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if !alnum && (i == 0 || !strings.ContainsRune("._-", r)) {
			return false
		}
	}
	return s != "" && !strings.Contains(s, "..")
}

// folders are the folders in which a skill may have files.
func folders() []string { return []string{"references", "templates", "scripts", "assets"} }

// CheckFile reports what is wrong with the path of a file to be written to a
// skill.
func CheckFile(file string) error {
	first, rest, _ := strings.Cut(file, "/")
	if !safePath(file) || rest == "" || !slices.Contains(folders(), first) {
		return fmt.Errorf("%q is not a path for a file of a skill: files go under references/, templates/, scripts/ or assets/, for example references/api.md", file)
	}
	return nil
}

// safePath reports whether a slash path stays inside the skill and names no
// hidden file.
func safePath(file string) bool {
	if file == "" || len(file) > 300 || path.IsAbs(file) || strings.ContainsAny(file, "\\:\x00") || path.Clean(file) != file {
		return false
	}
	for _, segment := range strings.Split(file, "/") {
		if strings.HasPrefix(segment, ".") {
			return false
		}
	}
	return true
}
