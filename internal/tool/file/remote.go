package file

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"hermes"
	"hermes/internal/search"
)

const (
	// maxRemote bounds the output of a remote search, in bytes.
	maxRemote = 8 << 20
	// remotePruned lists the folders that a remote search never enters. Without
	// ripgrep it does not read ignore files.
	remotePruned = "-name .git -o -name node_modules -o -name .venv -o -name __pycache__"
)

// remoteSearch searches an environment that only commands reach: with ripgrep
// if it is installed, else with find and grep. File names end with NUL.
func remoteSearch(ctx context.Context, e hermes.Environment, q search.Query, in searchArgs) (search.Found, error) {
	var out, complaint bounded
	out.limit, complaint.limit = maxRemote, 4<<10
	exit, err := e.Exec(ctx, hermes.Command{Line: remoteLine(q, in), Stdout: &out, Stderr: &complaint})
	if err != nil && ctx.Err() == nil {
		return search.Found{}, err
	}
	c := remoteFound{query: q, byPath: map[string]int{}}
	if q.Lines == nil {
		c.names(out.text.Bytes())
	} else {
		c.lines(out.text.Bytes())
	}
	c.found.Partial = out.full || ctx.Err() != nil
	if exit.Code > 1 && len(c.found.Files) == 0 && ctx.Err() == nil {
		return search.Found{}, fmt.Errorf("the search command failed: %s", strings.TrimSpace(cmp.Or(complaint.text.String(), "exit status "+strconv.Itoa(exit.Code))))
	}
	return c.found, nil
}

// remoteLine returns the shell command of a search.
func remoteLine(q search.Query, in searchArgs) string {
	root := quote(q.Root)
	hidden := q.Name.Hidden()
	if q.Lines == nil {
		prune, dots := remotePruned, " -o -name '.?*'"
		if hidden {
			dots = ""
		}
		return fmt.Sprintf("if command -v rg >/dev/null 2>&1; then rg --files --null --sortr modified %s -- %s; else find %s -mindepth 1 \\( %s%s \\) -prune -o -type f -print0; fi",
			option(hidden, "--hidden"), root, root, prune, dots)
	}
	pattern := in.Pattern
	fixed := ""
	if _, err := search.NewMatcher(pattern); err != nil {
		fixed = "-F"
	}
	exclude := "--exclude-dir=.git --exclude-dir=node_modules --exclude-dir=.venv --exclude-dir=__pycache__"
	pruned := remotePruned
	if !hidden {
		exclude += " --exclude-dir='.?*' --exclude='.?*'"
		pruned += " -o -name '.?*'"
	}
	plain, test := pattern, "index($0, ENVIRON[\"p\"])"
	fold := option(fixed == "" && strings.HasPrefix(pattern, "(?i)"), "i")
	if fixed == "" {
		plain, test = extended(strings.TrimPrefix(pattern, "(?i)")), "$0 ~ ENVIRON[\"p\"]"
	}
	return fmt.Sprintf("if command -v rg >/dev/null 2>&1; then rg -nH --null --no-heading --color never --sortr modified %s %s -e %s -- %s; "+
		"elif echo x | grep -qP x 2>/dev/null; then grep -rnIHZ %s %s -e %s -- %s; "+
		"elif echo x | grep -q --null x 2>/dev/null; then grep -rnIH%s --null %s %s -e %s -- %s; "+
		// The grep of busybox cannot end names with NUL.
		"else p=%s find %s ! -path %s \\( %s \\) -prune -o -type f -exec awk %s '%s {printf \"%%s%%c%%d:%%s\\n\", FILENAME, 0, FNR, $0}' {} + || exit 2; fi",
		fixed, option(hidden, "--hidden"), quote(pattern), root,
		cmp.Or(fixed, "-P"), exclude, quote(pattern), root,
		fold, cmp.Or(fixed, "-E"), exclude, quote(plain), root,
		quote(plain), root, root, pruned, option(fold != "", "-v IGNORECASE=1"), test)
}

// extended is a pattern as POSIX writes it: what Perl abbreviates is spelt out.
func extended(pattern string) string {
	classes := map[byte]string{'d': "0-9", 'w': "[:alnum:]_", 's': "[:space:]", 'D': "^0-9", 'W': "^[:alnum:]_", 'S': "^[:space:]"}
	var b strings.Builder
	list := false // in brackets
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		class := ""
		if c == '\\' && i+1 < len(pattern) {
			i++
			class = classes[pattern[i]]
		}
		switch {
		case class != "" && !list:
			b.WriteString("[" + class + "]")
		case class != "":
			b.WriteString(class)
		case c == '\\':
			b.WriteString(pattern[i-1 : i+1])
		case !list && strings.HasPrefix(pattern[i:], "(?:"):
			b.WriteByte(c)
			i += 2
		default:
			b.WriteByte(c)
			list = c == '[' || list && c != ']'
		}
	}
	return b.String()
}

func option(on bool, text string) string {
	if on {
		return text
	}
	return ""
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// remoteFound collects what the commands print.
type remoteFound struct {
	query  search.Query
	found  search.Found
	byPath map[string]int // index in found.Files, -1 for a file that is left out
}

// file returns the entry of a path, or nil if the query leaves it out.
func (c *remoteFound) file(name string) *search.File {
	i, known := c.byPath[name]
	if !known {
		i = -1
		rel := strings.TrimPrefix(strings.TrimPrefix(name, c.query.Root), "/")
		switch {
		case !c.query.Name.Match(cmp.Or(rel, path.Base(name))):
		case c.query.Omit != nil && c.query.Omit(name):
			c.found.Omitted++
		default:
			i = len(c.found.Files)
			c.found.Files = append(c.found.Files, search.File{Path: name})
		}
		c.byPath[name] = i
	}
	if i < 0 {
		return nil
	}
	return &c.found.Files[i]
}

func (c *remoteFound) names(out []byte) {
	for name := range bytes.SplitSeq(out, []byte{0}) {
		if len(name) > 0 {
			c.file(string(name))
		}
	}
}

// lines reads lines of the form name NUL number colon text.
func (c *remoteFound) lines(out []byte) {
	for line := range bytes.Lines(out) {
		name, rest, ok := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte{0})
		number, text, numbered := bytes.Cut(rest, []byte{':'})
		n, err := strconv.Atoi(string(number))
		if !ok || !numbered || err != nil {
			continue
		}
		f := c.file(string(name))
		if f == nil {
			continue
		}
		f.Matches++
		c.found.Matches++
		if !c.query.CountOnly {
			shown, _ := firstRunes(strings.ToValidUTF8(string(text), "\ufffd"), 500)
			f.Lines = append(f.Lines, search.Line{Number: n, Text: shown})
		}
	}
}

// bounded keeps the first limit bytes written to it.
type bounded struct {
	text  bytes.Buffer
	limit int
	full  bool
}

func (b *bounded) Write(data []byte) (int, error) {
	if keep := b.limit - b.text.Len(); len(data) > keep {
		b.full = true
		b.text.Write(data[:keep])
		return len(data), nil
	}
	return b.text.Write(data)
}
