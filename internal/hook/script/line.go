package script

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"hermes/internal/order"
	"hermes/internal/shellstate"
)

// maxDeep is how deep lines in the words of a line are read, as in bash -c '…'.
const maxDeep = 3

// word is a word of a line of which the text is known before the line runs.
type word struct {
	text     string
	from, to int // where it is in the line
	inner    bool
}

// program is a command line that was read.
type program struct {
	line  string // for the shell
	words []word
	bases []string // the folders to which the line changes
	// programs are the commands of the line, as far as they are known, and funcs those that it defines.
	programs, funcs []string
	// unclear is a word that may name a script, and of which the text is not known before the line runs.
	unclear string
}

// read reads a command. A line of words becomes a line for the shell in which each word is quoted.
func read(c Command) (*syntax.File, error) {
	line, err := c.shell("")
	if err != nil {
		return nil, err
	}
	return syntax.NewParser().Parse(strings.NewReader(line), "")
}

// shell is the line for the shell. home replaces ~ in a line of words.
func (c Command) shell(home string) (string, error) {
	if !c.Words {
		return c.Line, nil
	}
	words, err := split(c.Line)
	if err != nil {
		return "", err
	}
	for i, w := range words {
		if rest, ok := strings.CutPrefix(w, "~/"); ok && home != "" {
			w = filepath.Join(home, rest)
		}
		words[i] = shellstate.Quote(w)
	}
	return strings.Join(words, " "), nil
}

// split splits a line into words at blanks; quotes and backslashes work as in a shell, and nothing else
// has a meaning.
func split(line string) ([]string, error) {
	var words []string
	var b strings.Builder
	open, begun, escaped := rune(0), false, false
	for _, r := range line {
		switch {
		case escaped:
			if open == '"' && r != '"' && r != '\\' && r != '$' && r != '`' {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
			escaped = false
		case r == '\\' && open != '\'':
			escaped, begun = true, true
		case open != 0 && r == open:
			open = 0
		case open != 0:
			b.WriteRune(r)
		case r == '\'' || r == '"':
			open, begun = r, true
		case strings.ContainsRune(" \t\r\n", r):
			if begun || b.Len() > 0 {
				words = append(words, b.String())
				b.Reset()
				begun = false
			}
		default:
			b.WriteRune(r)
		}
	}
	if open != 0 || escaped {
		return nil, errors.New("a quote is not closed")
	}
	if begun || b.Len() > 0 {
		words = append(words, b.String())
	}
	if len(words) == 0 {
		return nil, errors.New("it is empty")
	}
	return words, nil
}

// known reads a command, with the variables whose values are known before it runs. Words of which the text
// depends on something else are left out.
func known(c Command, vars map[string]string) (program, error) {
	line, err := c.shell(vars["HOME"])
	if err != nil {
		return program{}, err
	}
	p := program{line: line}
	own := make(map[string]string, len(vars))
	for name, value := range vars {
		own[name] = value
	}
	return p, p.look(line, own, 0)
}

// look collects the words of a line, and of the lines in its words.
func (p *program) look(line string, vars map[string]string, deep int) error {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil || deep > maxDeep {
		return err
	}
	out := map[*syntax.Word]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			out[n.Word] = n.Op != syntax.RdrIn // what is written is no script
		case *syntax.Assign:
			if n.Name != nil && n.Value != nil {
				if text, ok := constant(n.Value, vars); ok {
					vars[n.Name.Value] = text
				}
			}
		case *syntax.FuncDecl:
			p.funcs = append(p.funcs, n.Name.Value)
		case *syntax.CallExpr:
			if len(n.Args) > 0 && deep == 0 {
				if name, ok := constant(n.Args[0], vars); ok && name != "" {
					p.programs = append(p.programs, name)
				}
			}
			if len(n.Args) == 2 && n.Args[0].Lit() == "cd" {
				if to, ok := constant(n.Args[1], vars); ok {
					p.bases = append(p.bases, to)
				}
			}
		case *syntax.Word:
			text, ok := constant(n, vars)
			source := line[n.Pos().Offset():n.End().Offset()]
			if (!ok || strings.ContainsAny(text, "*?[")) && namesScript(source) {
				p.unclear = source
			}
			if !ok || text == "" || out[n] {
				break
			}
			p.words = append(p.words, word{text, int(n.Pos().Offset()), int(n.End().Offset()), deep > 0})
			if strings.ContainsAny(text, " \t\n;|&") {
				_ = p.look(text, vars, deep+1) // most texts are no lines
			}
		}
		return true
	})
	return nil
}

// namesScript reports whether a word looks like the name of a script.
func namesScript(source string) bool {
	source = strings.Trim(source, `"'`)
	if strings.Contains(source, ".hermes") || strings.Contains(source, "hooks/") {
		return true
	}
	switch filepath.Ext(source) {
	case ".sh", ".bash", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".ps1":
		return true
	}
	return false
}

// constant returns the text of a word, if it can be known.
func constant(w *syntax.Word, vars map[string]string) (string, bool) {
	var b strings.Builder
	if len(w.Parts) == 0 || !constantParts(&b, w.Parts, vars, false) {
		return "", false
	}
	text := b.String()
	first, _ := w.Parts[0].(*syntax.Lit)
	if rest, ok := strings.CutPrefix(text, "~/"); ok && vars["HOME"] != "" && first != nil && strings.HasPrefix(first.Value, "~/") {
		text = filepath.Join(vars["HOME"], rest)
	}
	return text, true
}

func constantParts(b *strings.Builder, parts []syntax.WordPart, vars map[string]string, quoted bool) bool {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescaped(part.Value, quoted))
		case *syntax.SglQuoted:
			if part.Dollar {
				return false
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			if !constantParts(b, part.Parts, vars, true) {
				return false
			}
		case *syntax.ParamExp:
			value, ok := vars[part.Param.Value]
			if !ok || part.Excl || part.Length || part.Width || part.Index != nil || part.Slice != nil || part.Repl != nil || part.Exp != nil {
				return false
			}
			b.WriteString(value)
		default:
			return false
		}
	}
	return true
}

// unescaped removes the backslashes of a literal.
func unescaped(lit string, quoted bool) string {
	if !strings.Contains(lit, `\`) {
		return lit
	}
	var b strings.Builder
	for i := 0; i < len(lit); i++ {
		if lit[i] == '\\' && i+1 < len(lit) && (!quoted || strings.IndexByte("\"\\$`\n", lit[i+1]) >= 0) {
			if i++; lit[i] == '\n' {
				continue
			}
		}
		b.WriteByte(lit[i])
	}
	return b.String()
}

// paths are the files that a word may name, in the folder of the line and in those to which it
// changes.
func (p program) paths(w word, dir string) []string {
	if filepath.IsAbs(w.text) {
		return []string{filepath.Clean(w.text)}
	}
	list := []string{filepath.Join(dir, w.text)}
	for _, base := range p.bases {
		if !filepath.IsAbs(base) {
			base = filepath.Join(dir, base)
		}
		list = append(list, filepath.Join(base, w.text))
	}
	return list
}

// files lists the regular files that a line names, sorted; links are followed to find out.
func (p program) files(dir string) []string {
	var list []string
	for _, w := range p.words {
		if len(w.text) > 4096 || strings.ContainsRune(w.text, 0) {
			continue
		}
		for _, path := range p.paths(w, dir) {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				list = append(list, path)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// errInner says that a file of a project cannot be replaced by its copy.
var errInner = errors.New("name a file of .hermes/hooks as a word of its own in the line, not in a text within it or after cd, so that the version that was trusted runs")

// replaced returns the line with other files for some of those that it names; nil has none. A file that is named
// by a variable or ~ is named by its path, which is what the user agreed to: the home of what runs may be
// another one.
func (p program) replaced(dir string, other func(path string) (string, bool)) (string, error) {
	line := p.line
	words := slices.Clone(p.words)
	order.By(words, func(a, b word) int { return b.from - a.from })
	for _, w := range words {
		for i, path := range p.paths(w, dir) {
			to, ok := "", false
			if other != nil {
				to, ok = other(path)
			}
			if ok && (w.inner || i > 0) {
				return "", errInner
			}
			if !ok && !w.inner && filepath.IsAbs(w.text) && line[w.from:w.to] != w.text {
				if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
					to, ok = path, true
				}
			}
			if !ok {
				continue
			}
			line = line[:w.from] + shellstate.Quote(to) + line[w.to:]
			break
		}
	}
	return line, nil
}
